package monitor

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
)

// ErrDraining says that a server stops, and that sessions which are at work may complete that.
var ErrDraining = errors.New("draining")

// Health returns the handler of /healthz: 200 if check returns nil, otherwise 503, with the text of its error.
func Health(check func() error) http.Handler {
	return readOnly(func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			answer(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		answer(w, http.StatusOK, "ok")
	})
}

// Guarded returns a handler for clients with a token, or, if there is none, for this machine alone. A request that another
// server has passed on is not from this machine.
func Guarded(token func() string, next http.Handler) http.Handler {
	return readOnly(func(w http.ResponseWriter, r *http.Request) {
		switch want := token(); {
		case want == "" && !local(r):
			answer(w, http.StatusForbidden, "only from this machine: give the server a token with --metrics-token-file")
		case want != "" && !bearer(r, want):
			w.Header().Set("WWW-Authenticate", `Bearer realm="metrics"`)
			answer(w, http.StatusUnauthorized, "a token is needed")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local reports whether a request comes from a client on this machine.
func local(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// bearer reports whether a request has a token.
func bearer(r *http.Request, want string) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(want))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// readOnly returns a handler of GET and HEAD.
func readOnly(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, http.StatusMethodNotAllowed, "only GET")
			return
		}
		next(w, r)
	})
}

// answer answers with a line of text.
func answer(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n")
}
