package console

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A roleJSON is a role without its verifier: with that, a browser could guess passwords at leisure.
type roleJSON struct {
	Name        string               `json:"name"`
	Columns     []catalog.ColumnName `json:"columns"`
	Epsilon     map[string]string    `json:"epsilon"`
	EpsilonMax  map[string]string    `json:"epsilon_max"`
	EpsilonMin  map[string]string    `json:"epsilon_min"`
	Answers     int64                `json:"answers"` // new ones a day; 0 stands for the default
	AnswerBytes int64                `json:"answer_bytes"`
	MaxRepeat   int                  `json:"max_repeat"`
	Timeout     float64              `json:"timeout"` // seconds
	Rows        int64                `json:"rows"`
	Memory      int64                `json:"memory"`
	LeaveOut    bool                 `json:"leave_out"`
}

// A newRoleJSON is a role that is to be added.
type newRoleJSON struct {
	roleJSON
	Password string `json:"password"`
}

// A droppedJSON names a role that is to be dropped.
type droppedJSON struct {
	Name string `json:"name"`
}

func (s *Server) handleRoles(w http.ResponseWriter, r *http.Request, l *login) (any, error) {
	roles, err := l.session.Roles(r.Context())
	if err != nil {
		return nil, err
	}
	all := []roleJSON{}
	for _, x := range roles {
		answers, bytes := x.MostAnswers()
		all = append(all, roleJSON{
			x.Name, orNone(x.Columns), amountsOf(x.Epsilon), amountsOf(x.EpsilonMax), amountsOf(x.EpsilonMin), answers, bytes,
			x.MaxRepeat, x.Timeout.Seconds(), x.Rows, x.Memory, x.LeaveOut,
		})
	}
	return map[string]any{"roles": all}, nil
}

func (s *Server) handleAddRole(w http.ResponseWriter, r *http.Request, l *login, body newRoleJSON) (any, error) {
	added, err := body.role()
	if err != nil {
		return nil, newFault(http.StatusUnprocessableEntity, "22023", err.Error(), "")
	}
	if err := l.session.AddRole(r.Context(), added); err != nil {
		return nil, err
	}
	s.log.Info("the owner has added a role", "role", added.Name)
	return struct{}{}, nil
}

func (j newRoleJSON) role() (*role.Role, error) {
	if strings.EqualFold(j.Name, OwnerName) {
		return nil, errors.New("the owner logs in as " + OwnerName + ": take another name")
	}
	if !(j.Timeout > 0 && j.Timeout <= 1e6) {
		return nil, errors.New("the time of a statement must be above 0 and at most 1000000 s")
	}
	x := &role.Role{Terms: role.Terms{
		Name: j.Name, Columns: j.Columns, MaxRepeat: j.MaxRepeat, Timeout: time.Duration(j.Timeout * float64(time.Second)),
		Answers: j.Answers, AnswerBytes: j.AnswerBytes, Rows: j.Rows, Memory: j.Memory, LeaveOut: j.LeaveOut, Added: time.Now().UTC().Truncate(time.Microsecond),
	}}
	var err error
	if x.Epsilon, err = amounts("the budget", j.Epsilon); err != nil {
		return nil, err
	}
	if x.EpsilonMax, err = amounts("the most of a call", j.EpsilonMax); err != nil {
		return nil, err
	}
	if x.EpsilonMin, err = amounts("the least of an answer", j.EpsilonMin); err != nil {
		return nil, err
	}
	if err := x.Check(); err != nil {
		return nil, err
	}
	if len(j.Password) < minPassword {
		return nil, errors.New("a password has at least 12 bytes")
	}
	x.Verifier, err = wire.NewVerifier(j.Password, wire.DefaultIterations)
	return x, err
}

// minPassword is the least length of a password: the server is for networks.
const minPassword = 12

func amounts(what string, texts map[string]string) (map[budget.Unit]budget.Amount, error) {
	all := map[budget.Unit]budget.Amount{}
	for unit, text := range texts {
		a, err := parseAmount(text)
		if err != nil {
			return nil, errors.New(what + " in " + unit + " " + err.Error())
		}
		all[budget.Unit(unit)] = a
	}
	return all, nil
}

func (s *Server) handleDropRole(w http.ResponseWriter, r *http.Request, l *login, body droppedJSON) (any, error) {
	if err := l.session.DropRole(r.Context(), body.Name); err != nil {
		return nil, err
	}
	s.log.Info("the owner has dropped a role", "role", body.Name)
	s.dropLoginsOf(body.Name)
	return struct{}{}, nil
}

// dropLoginsOf ends all logins of a user.
func (s *Server) dropLoginsOf(user string) {
	var all []*login
	s.mu.Lock()
	for id, l := range s.logins {
		if l.user == user {
			all = append(all, l)
			delete(s.logins, id)
		}
	}
	s.mu.Unlock()
	for _, l := range all {
		l.end()
	}
}
