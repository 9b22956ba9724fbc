package console

import (
	"net"
	"strings"
	"sync"

	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
)

// A History remembers the statements since the server started, also over the protocol of PostgreSQL. It is a
// [monitor.Observer]. Their SQL is for their own role only, and stays in memory.
type History struct {
	mu    sync.Mutex
	asked []Asked // the oldest first
}

// keptHistory bounds the statements that a History remembers. Once it is full, it remembers at least three quarters of them.
const keptHistory = 4000

// StatementEnded implements monitor.Observer. Statements that asked nothing are left out.
func (h *History) StatementEnded(s monitor.Statement) {
	if s.Report.Answers == 0 && s.State != stateRefused {
		return
	}
	a := Asked{At: s.Began, Role: s.Session.Role, Report: s.Report}
	if len(s.SQL) <= maxKept {
		a.SQL, a.Epsilon = strings.Clone(s.SQL), s.Epsilon // of a text that may be far longer
	}
	if s.State != "" && s.State != "00000" {
		a.Refused = s.State
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) >= keptHistory {
		h.asked = append([]Asked(nil), h.asked[keptHistory/4:]...)
	}
	h.asked = append(h.asked, a)
}

// stateRefused is the SQLSTATE of a refusal.
const stateRefused = "53400"

// SessionBegan implements monitor.Observer.
func (*History) SessionBegan(monitor.Session) {}

// SessionEnded implements monitor.Observer.
func (*History) SessionEnded(monitor.Session, monitor.Reason) {}

// LoginFailed implements monitor.Observer.
func (*History) LoginFailed(net.Addr, string) {}

// of returns the latest statements of a role, or of all roles if it is nil, the latest first. One that an earlier role of the name
// has asked has no SQL, and nor have those of all roles.
func (h *History) of(r *role.Role, most int) (list []Asked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.asked) - 1; i >= 0 && len(list) < most; i-- {
		a := h.asked[i]
		if r != nil && a.Role != r.Name {
			continue
		}
		if r == nil || a.At.Before(r.Added) {
			a.SQL, a.Epsilon = "", ""
		}
		list = append(list, a)
	}
	return list
}
