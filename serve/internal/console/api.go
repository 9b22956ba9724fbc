package console

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn"
)

// A handler returns the answer to a request of a login, or nil if it has sent the answer.
type handler func(w http.ResponseWriter, r *http.Request, l *login) (answer any, err error)

// withSource returns a handler for requests that have been checked to come from the page.
func (s *Server) withSource(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if f := s.checkSource(r); f != nil {
			f.send(w)
			return
		}
		h(w, r)
	}
}

// withLogin returns a handler for logins only.
func (s *Server) withLogin(h handler) http.HandlerFunc {
	return s.withSource(func(w http.ResponseWriter, r *http.Request) {
		l := s.findLogin(r)
		if l == nil || !l.enter(s.options) {
			errLoggedOut.send(w)
			return
		}
		defer l.leave()
		defer s.options.Answering(r)()
		answer, err := h(w, r, l)
		switch {
		case err != nil:
			f := s.faultOf(r.Context(), err)
			if f.endsLogin() {
				s.dropLogin(l)
			}
			f.send(w)
		case answer != nil:
			sendJSON(w, http.StatusOK, answer)
		}
	})
}

// withOwner returns a handler for the owner only.
func (s *Server) withOwner(h handler) http.HandlerFunc {
	return s.withLogin(func(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
		if !l.session.Owner() {
			return nil, newFault(http.StatusForbidden, codeForbidden, "only the owner may see and change roles", "")
		}
		return h(w, r, l)
	})
}

// withBody returns a handler of requests with a body of at most so many bytes.
func withBody[T any](most int64, h func(w http.ResponseWriter, r *http.Request, l *login, body T) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
		var body T
		if err := readJSON(w, r, most, &body); err != nil {
			return nil, err
		}
		return h(w, r, l, body)
	}
}

// checkSource returns a fault for a request that another page may have made. A request that changes something, or costs,
// has to name its origin and to prove that the page made it.
func (s *Server) checkSource(r *http.Request) *fault {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && (site != "none" || r.Method != http.MethodGet) {
		return newFault(http.StatusForbidden, codeForbidden, "another page has made this request", "")
	}
	if r.Method == http.MethodGet {
		return nil
	}
	if origin := r.Header.Get("Origin"); !strings.EqualFold(origin, scheme(r)+"://"+r.Host) {
		return newFault(http.StatusForbidden, codeForbidden, "the request does not come from this console's page", "Open the page by the address that the server has.")
	}
	if !hmac.Equal([]byte(r.Header.Get("X-CSRF-Token")), []byte(s.token(s.cookie(r)))) || s.cookie(r) == "" {
		return newFault(http.StatusForbidden, codeToken, "the request lacks the page's token", "Load the page again.")
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return newFault(http.StatusUnsupportedMediaType, codeRequest, "the request is not JSON", "")
	}
	return nil
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// isLocal reports whether a name of a host, with or without a port, stands for the machine itself.
func isLocal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// readJSON reads the body of a request.
func readJSON(w http.ResponseWriter, r *http.Request, most int64, into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return newFault(http.StatusRequestEntityTooLarge, codeTooLarge, fmt.Sprintf("the request is larger than %d bytes", most), "Send a shorter statement.")
	}
	if err != nil {
		return newFault(http.StatusBadRequest, codeRequest, "the request did not arrive", "Try again.")
	}
	// The statement may take longer. A deadline that passes would say that the browser is gone.
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err == nil && utf8.Valid(text) {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
	}
	return newFault(http.StatusBadRequest, codeRequest, "the request is none of the page's", "Load the page again.")
}

func (s *Server) handleNowhere(w http.ResponseWriter, r *http.Request) {
	newFault(http.StatusNotFound, codeRequest, "there is nothing at "+r.Method+" "+r.URL.Path, "").send(w)
}

// A sessionJSON says who has logged in.
type sessionJSON struct {
	Token string     `json:"token"`
	Login *loginJSON `json:"login"`
}

type loginJSON struct {
	User  string `json:"user"`
	Owner bool   `json:"owner"`
}

// handleSession answers with the user and the token for the next requests. A browser without a cookie gets one that
// belongs to no user: a login has another one.
func (s *Server) handleSession(w http.ResponseWriter, r *http.Request) {
	cookie := s.cookie(r)
	if cookie == "" {
		cookie = randomText()
		s.setCookie(w, r, cookie)
	}
	answer := sessionJSON{Token: s.token(cookie)}
	if l := s.findLogin(r); l != nil && l.enter(s.options) {
		answer.Login = &loginJSON{l.user, l.session.Owner()}
		l.leave()
	}
	sendJSON(w, http.StatusOK, answer)
}

func (s *Server) handleLogin(w http.ResponseWriter, r *http.Request) {
	answer, err := s.login(w, r)
	if err != nil {
		s.faultOf(r.Context(), err).send(w)
		return
	}
	sendJSON(w, http.StatusOK, answer)
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) (*sessionJSON, error) {
	var body struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	if err := readJSON(w, r, maxSmallBody, &body); err != nil {
		return nil, err
	}
	c := Credentials{User: body.User, Password: body.Password, Remote: remoteAddr(r.RemoteAddr), TLS: r.TLS != nil}
	var session Session
	var err error
	right, wait := s.options.Throttle.Try(c.Remote, c.User, func() bool {
		session, err = s.backend.Login(r.Context(), c)
		return err == nil
	})
	if !right {
		switch {
		case wait > 0:
			seconds := int(math.Ceil(wait.Seconds()))
			w.Header().Set("Retry-After", fmt.Sprint(seconds))
			err = newFault(http.StatusTooManyRequests, codeWait, "too many logins have failed", fmt.Sprintf("Wait %d s before the next one.", seconds))
		case errors.Is(err, ErrLogin):
			err = newFault(http.StatusUnauthorized, codeLogin, ErrLogin.Error(), "")
		default:
			return nil, err
		}
		if s.options.LoginFailed != nil {
			s.options.LoginFailed(c.Remote, c.User)
		}
		return nil, err
	}
	cookie, ok := s.addLogin(body.User, session)
	if !ok {
		return nil, newFault(http.StatusServiceUnavailable, codeServer, "the server is stopping", "")
	}
	if old := s.findLogin(r); old != nil {
		s.dropLogin(old)
	}
	s.setCookie(w, r, cookie)
	s.log.Info("a login to the console", "user", body.User, "address", r.RemoteAddr)
	return &sessionJSON{s.token(cookie), &loginJSON{body.User, session.Owner()}}, nil
}

// A remoteAddr is the address of a browser, as http.Request has it. It implements net.Addr.
type remoteAddr string

func (remoteAddr) Network() string  { return "tcp" }
func (a remoteAddr) String() string { return string(a) }

func (s *Server) handleLogout(w http.ResponseWriter, r *http.Request, l *login, _ struct{}) (any, error) {
	s.dropLogin(l)
	s.setCookie(w, r, "")
	return struct{}{}, nil
}

func (s *Server) handleSchema(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	schema, err := l.session.Schema(r.Context())
	if err != nil {
		return nil, err
	}
	shown := *schema
	shown.Tables, shown.Functions, shown.Domains = orNone(shown.Tables), orNone(shown.Functions), orNone(shown.Domains)
	return shown, nil
}

func (s *Server) handleBudgets(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	budgets, err := l.session.Budgets(r.Context())
	if err != nil {
		return nil, err
	}
	all := []budgetJSON{}
	for _, b := range budgets {
		all = append(all, budgetOf(b))
	}
	return map[string]any{"budgets": all}, nil
}

func (s *Server) handleHistory(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	history, err := l.session.History(r.Context(), maxHistory)
	if err != nil {
		return nil, err
	}
	all := []askedJSON{}
	for _, a := range history {
		all = append(all, askedJSON{a.At, a.Role, a.Refused, reportOf(a.Report), a.SQL, a.Epsilon})
	}
	return map[string]any{"history": all, "most": maxHistory}, nil
}

func (s *Server) handleSaved(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	saved, err := l.session.Saved(r.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{"saved": orNone(saved)}, nil
}

func (s *Server) handleSave(w http.ResponseWriter, r *http.Request, l *login, q SavedQuestion) (any, error) {
	if err := q.check(); err != nil {
		return nil, newFault(http.StatusUnprocessableEntity, "22023", err.Error(), "")
	}
	return struct{}{}, l.session.Save(r.Context(), q)
}

func (s *Server) handleLeft(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	left, err := l.session.Left(r.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{"left": orNone(left)}, nil
}

// A quotedJSON is a statement of which a browser asks the cost.
type quotedJSON struct {
	SQL     string `json:"sql"`
	Epsilon string `json:"epsilon"` // empty, or as SET geosql.epsilon has it
}

// A questionJSON is a statement that a browser sends.
type questionJSON struct {
	quotedJSON
	Quote string `json:"quote"` // empty for a statement that costs nothing
}

func (q quotedJSON) question() (Question, error) {
	if strings.TrimSpace(q.SQL) == "" {
		return Question{}, newFault(http.StatusUnprocessableEntity, "42601", "there is no statement", "Write one, such as SELECT count(*) FROM a table.")
	}
	if q.Epsilon == "" {
		return Question{SQL: q.SQL}, nil
	}
	epsilon, err := parseAmount(q.Epsilon)
	if err != nil {
		return Question{}, newFault(http.StatusUnprocessableEntity, "22023", "epsilon for plain aggregates "+err.Error(), "")
	}
	return Question{q.SQL, epsilon}, nil
}

// amountForm is the form of an amount. It excludes exponents: with one, a short text may stand for a number that fills the memory.
var amountForm = regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,12})?$`)

// parseAmount reads an epsilon above 0.
func parseAmount(text string) (budget.Amount, error) {
	if x, ok := new(big.Rat).SetString(text); ok && amountForm.MatchString(text) && x.Sign() > 0 {
		if a, err := budget.Limit(x); err == nil {
			return a, nil
		}
	}
	return 0, errors.New("must be a number above 0 and at most 9000000, such as 0.1")
}

var errBusy = newFault(http.StatusConflict, codeBusy, "another statement of yours is running", "Wait for it, or cancel it.")

func (s *Server) handleQuote(w http.ResponseWriter, r *http.Request, l *login, body quotedJSON) (any, error) {
	q, err := body.question()
	if err != nil {
		return nil, err
	}
	ctx, done, ok := l.begin(r.Context())
	if !ok {
		return nil, errBusy
	}
	defer done()
	outcome, err := l.session.Quote(ctx, q)
	if err != nil {
		return nil, s.statementFault(ctx, err, sqlitefn.Report{})
	}
	sendJSON(w, http.StatusOK, map[string]any{ // before done, as in handleRun
		"quote":   l.keepQuote(q, outcome.Report),
		"charges": charges(outcome.Report),
		"report":  reportOf(outcome.Report),
		"notices": noticesOf(outcome.Notices),
	})
	return nil, nil
}

func (s *Server) handleRun(w http.ResponseWriter, r *http.Request, l *login, body questionJSON) (any, error) {
	q, err := body.question()
	if err != nil {
		return nil, err
	}
	ctx, done, ok := l.begin(r.Context())
	if !ok {
		return nil, errBusy
	}
	defer done()
	var quoted sqlitefn.Report // without a quote, nothing may be charged
	if body.Quote != "" {
		if quoted, ok = l.takeQuote(body.Quote, q); !ok {
			return nil, newFault(http.StatusConflict, codeUnknown, "the cost that you were shown is no longer kept", "Ask for the cost again.")
		}
	}
	begun := time.Now()
	result, report, err := run(ctx, l.session, q, quoted)
	if overQuote := new(sqlitefn.OverQuoteError); body.Quote == "" && errors.As(err, &overQuote) {
		return nil, newFault(http.StatusConflict, codeCosts, "the statement costs something", "Ask for its cost first.")
	}
	if err != nil {
		return nil, s.statementFault(ctx, err, report)
	}
	result.Millis = time.Since(begun).Milliseconds()
	sendJSON(w, http.StatusOK, result) // before done: a login has one result in memory
	return nil, nil
}

// run runs a statement. The report has its cost, also after an error.
func run(ctx context.Context, session Session, q Question, quoted sqlitefn.Report) (*resultJSON, sqlitefn.Report, error) {
	rows, err := session.Run(ctx, q, quoted)
	if err != nil {
		return nil, sqlitefn.Report{}, err
	}
	result, err := readRows(rows)
	outcome := rows.Close()
	if err != nil {
		return nil, outcome.Report, err
	}
	result.Report, result.Notices = reportOf(outcome.Report), noticesOf(outcome.Notices)
	result.find(outcome.Intervals)
	return result, outcome.Report, nil
}

// statementFault returns the fault of a statement, which may have cost something all the same.
func (s *Server) statementFault(ctx context.Context, err error, spent sqlitefn.Report) error {
	f := *s.faultOf(ctx, err)
	if charges(spent) {
		f.Report = reportOf(spent)
	}
	return &f
}

func (s *Server) handleCancel(w http.ResponseWriter, r *http.Request, l *login, _ struct{}) (any, error) {
	l.cancelStatement()
	return struct{}{}, nil
}
