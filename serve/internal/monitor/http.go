package monitor

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// ErrDraining says that a server stops, and that sessions which are at work may complete that.
var ErrDraining = errors.New("draining")

const (
	healthFor     = time.Second // that an answer about health is given again
	healthTimeout = 5 * time.Second
)

// Health returns the handler of /healthz: 200 if check returns nil, otherwise 503, with the text of its error. A client
// that asks often gets the last answer again.
func Health(check func(context.Context) error) http.Handler {
	var mu sync.Mutex
	var last error
	var at time.Time
	return readOnly(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); at.IsZero() || now.Sub(at) > healthFor || now.Before(at) {
			ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
			last = check(ctx)
			cancel()
			at = time.Now()
		}
		if last != nil {
			answer(w, http.StatusServiceUnavailable, last.Error())
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
