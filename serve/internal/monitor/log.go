package monitor

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"time"
)

// A Log tells a structured log of sessions, failed logins, and statements that failed for the server's reasons. The
// statements themselves are for an [Audit].
type Log struct{ Logger *slog.Logger }

// SessionBegan logs who has come.
func (l Log) SessionBegan(s Session) {
	l.Logger.Info("a session began", "session", s.Number, "role", s.Role, "remote", addressText(s.Remote), "tls", s.TLS)
}

// SessionEnded logs who has gone, and why.
func (l Log) SessionEnded(s Session, reason Reason) {
	level := slog.LevelInfo
	if reason == WorkerDied || reason == WorkerKilled {
		level = slog.LevelWarn
	}
	l.Logger.Log(context.Background(), level, "a session ended", "session", s.Number, "role", s.Role, "reason", string(reason),
		"seconds", time.Since(s.Began).Seconds())
}

// LoginFailed logs who may be guessing.
func (l Log) LoginFailed(remote net.Addr, user string) {
	l.Logger.Warn("a login failed", "remote", addressText(remote), "user", short(user))
}

// StatementEnded logs a statement that failed through no fault of the client.
func (l Log) StatementEnded(s Statement) {
	if class := class(s.state()); class == "XX" || class == "58" || class == "53" && s.State != "53400" {
		l.Logger.Warn("a statement failed", "session", s.Session.Number, "role", s.Session.Role, "sqlstate", s.State,
			"seconds", s.Took.Seconds())
	}
}

// addressText returns an address as text.
func addressText(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// short returns the start of a user's name, which may be of any length if the user does not exist.
func short(user string) string {
	const most = 63 // bytes of a role's name
	if len(user) > most {
		user = user[:most] + ".."
	}
	return strings.ToValidUTF8(user, "\uFFFD")
}
