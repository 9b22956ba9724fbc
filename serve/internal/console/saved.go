package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// savedQuestions are the questions that roles have saved, in a file that only the owner reads.
type savedQuestions struct {
	path string
	mu   sync.Mutex
}

// A shelf has the questions of a role. Another role that gets its name later has none of them.
type shelf struct {
	Added     time.Time       `json:"added"` // when the role was
	Questions []SavedQuestion `json:"questions"`
}

// check returns an error about a question that cannot be saved.
func (q SavedQuestion) check() error {
	if strings.TrimSpace(q.Name) == "" || len(q.Name) > maxName {
		return fmt.Errorf("a saved question has a name of 1 to %d bytes", maxName)
	}
	if len(q.SQL) > maxKept {
		return fmt.Errorf("a saved question has at most %d bytes", maxKept)
	}
	if q.Epsilon != "" {
		if _, err := parseAmount(q.Epsilon); err != nil {
			return fmt.Errorf("epsilon for plain aggregates %w", err)
		}
	}
	return nil
}

// of returns the questions of a role.
func (s *savedQuestions) of(r *role.Role) ([]SavedQuestion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	return all[r.Name].of(r), err
}

func (s *shelf) of(r *role.Role) []SavedQuestion {
	if s == nil || !s.Added.Equal(r.Added) {
		return nil
	}
	return s.Questions
}

func (s *savedQuestions) read() (map[string]*shelf, error) {
	all := map[string]*shelf{}
	text, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err == nil:
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// save saves a question of a role, or removes it if it has no SQL.
func (s *savedQuestions) save(r *role.Role, q SavedQuestion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(all[r.Name].of(r), func(old SavedQuestion) bool { return old.Name == q.Name })
	if strings.TrimSpace(q.SQL) != "" {
		list = append(list, q)
	}
	if len(list) > maxSaved {
		return &wire.Error{Code: "54000", Message: fmt.Sprintf("%d questions are saved already", maxSaved), Hint: "Remove one first."}
	}
	slices.SortFunc(list, func(a, b SavedQuestion) int { return cmp.Compare(a.Name, b.Name) })
	all[r.Name] = &shelf{r.Added, list}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	next, err := os.OpenFile(s.path+"-next", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = cmp.Or(err, next.Sync(), next.Close()); err != nil { // so that a crash leaves the old file or the new one
		return err
	}
	return files.Rename(next.Name(), s.path)
}
