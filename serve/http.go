package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/serve/internal/console"
	"github.com/geosql/geosql/serve/internal/monitor"
)

// writeTimeout bounds a client's time to read one write.
const writeTimeout = time.Minute

// newHTTPServer returns the server of the console, /healthz and /metrics.
func (s *Server) newHTTPServer() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/healthz", console.CheckHost(monitor.Health(s.health)))
	mux.Handle("/metrics", console.CheckHost(monitor.Guarded(func() string { return *s.token.Load() }, s.metrics.Handler())))
	mux.Handle("/", s.whileServing(s.backend.Console()))
	h := &http.Server{
		Handler:           patient(mux),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 32}, // of a connection; the page has fewer requests at a time
		ConnContext:       withVisitor,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelInfo),
	}
	if s.certificates != nil {
		h.TLSConfig = s.certificates.config()
	}
	return h
}

// health says why the server is not healthy.
func (s *Server) health() error {
	if s.draining.Load() {
		return monitor.ErrDraining
	}
	return s.probe.Check()
}

// inspect says why the files of the server cannot be used. The log says so when that changes.
func (s *Server) inspect(ctx context.Context) error {
	err := s.vault.check(ctx)
	switch {
	case err != nil:
	case s.audit != nil && s.audit.Check() != nil:
		err = errNoAudit
	case files.IsFull(files.Room(os.TempDir())):
		err = errNoTemp
	}
	now := ""
	if err != nil {
		now = err.Error()
	}
	if now != s.inspected && !s.draining.Load() {
		s.logger.Warn("health has changed", "from", s.inspected, "to", now, "cause", errors.Unwrap(err))
	}
	s.inspected = now
	return err
}

// whileServing returns a handler that takes no new request once the server stops.
func (s *Server) whileServing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "30")
			http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// patient returns a handler that gives its clients time for each part of an answer, and itself as long as a statement may take.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&patientWriter{w, http.NewResponseController(w)}, r)
	})
}

type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *patientWriter) WriteHeader(status int) {
	w.wait()
	w.ResponseWriter.WriteHeader(status)
}

// wait gives the client time from now on. Where that fails it has as much as before.
func (w *patientWriter) wait() { _ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) }

func (w *patientWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		w.wait()
		part := p[:min(len(p), 64<<10)]
		var m int
		m, err = w.ResponseWriter.Write(part)
		n, p = n+m, p[m:]
		if err == nil && m < len(part) {
			err = io.ErrShortWrite
		}
	}
	return n, err
}
