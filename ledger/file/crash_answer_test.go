package file_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// askingRole is the role that all processes ask in. It sees every answer that is drawn, so its
// role budgets have spent the same as the accounts.
const askingRole = "sales"

// answersFile has the answers that the processes have seen, one a line. A line is one write, which
// is there or not when its process was killed.
func answersFile(dir string) string { return filepath.Join(dir, "answers") }

// askQuestions asks questions about five accounts each, which owe a part of the cost of the answers, and most of them twice,
// once in each
// process. It reports the ones that it has drawn. First it asks all again that earlier processes
// have seen: they must be remembered as they were.
func askQuestions(dir string, say reporter) error {
	l, err := file.Open(ledgerFile(dir), false)
	if err != nil {
		return err
	}
	if err := sameAsBefore(l, answersFile(dir)); err != nil {
		return err
	}
	seen, err := os.OpenFile(answersFile(dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	say.ready()
	begun := time.Now().UnixMilli() / 20 // so that processes which begin together ask the same
	for i := 0; ; i++ {
		key := fmt.Sprint(begun, " ", i)
		asked := time.Now().UnixMicro()
		a, err := askAbout(l, key, func([]string) ([]byte, error) { return []byte(rand.Text()), nil })
		if err != nil {
			return err
		}
		if !a.Remembered {
			if err := say.answer(asked, half, "m", strings.Join(askedAccounts(), ",")); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(seen, "%s\t%s\n", key, a.Answer); err != nil {
			return err
		}
	}
}

func askedAccounts() (accounts []string) {
	for i := range scanAccounts {
		accounts = append(accounts, fmt.Sprint("q", i))
	}
	return accounts
}

func askAbout(l *file.Ledger, key string, draw func([]string) ([]byte, error)) (ledger.Answered, error) {
	q := ledger.Question{Function: "dx_sum", Unit: "m", Role: askingRole, RoleLimit: budget.Max, Draw: draw}
	copy(q.Key[:], key)
	for _, account := range askedAccounts() {
		q.Members = append(q.Members, ledger.Member{Account: account, Epsilon: 2 * half, Due: half, RoleDue: half, Evaluations: 1})
	}
	return l.Answer(context.Background(), q)
}

// sameAsBefore demands that the answers in a file are remembered. It looks at the last ones, which
// the latest kills may have spoiled.
func sameAsBefore(l *file.Ledger, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var last []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if last = append(last, lines.Text()); len(last) > 200 {
			last = last[1:]
		}
	}
	for _, line := range last {
		key, want, _ := strings.Cut(line, "\t")
		a, err := askAbout(l, key, func([]string) ([]byte, error) { return nil, errors.New("it was forgotten") })
		if err != nil || string(a.Answer) != want {
			return fmt.Errorf("answer %q to question %s was seen, now it is %q, %v", want, key, a.Answer, err)
		}
	}
	return nil
}

// roleBudgetsFollow demands that the role has spent on each account the same as the account, and that the
// accounts were charged together.
func roleBudgetsFollow(_, after state) error {
	var first int64
	for _, account := range askedAccounts() {
		spent := after.balances[key{account, "m"}].spent
		if of := after.roleBudgets[key{account, "m"}]; of != spent {
			return fmt.Errorf("%s was charged %d, the role %d for it", account, spent, of)
		}
		if first == 0 {
			first = spent
		}
		if spent != first {
			return fmt.Errorf("%s was charged %d, another %d, for the same questions", account, spent, first)
		}
	}
	return nil
}
