package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/geosql/geosql/budget"
)

// player is the test binary in another process.
type player struct {
	cmd *exec.Cmd
	out io.ReadCloser
}

func start(t testing.TB, role string, args ...string) *player {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return &player{cmd, out}
}

// result waits for a player to end by itself and returns what it wrote.
func (p *player) result(t testing.TB) string {
	t.Helper()
	all, err := io.ReadAll(p.out)
	check(t, err)
	check(t, p.cmd.Wait())
	return strings.TrimSpace(string(all))
}

func play(role string, args []string) {
	l, err := Open(args[0], true)
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	switch role {
	case "identify":
		fmt.Println(l.ID())
	case "charge", "spend":
		granted, err := untilRefused[role](l)
		if err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		fmt.Println(granted)
	case "answer":
		answerForEver(l, os.Stdout)
	case "answer reserved":
		answerReserved(l, os.Stdout)
	case "answer first":
		os.Stdout.Write([]byte{0})
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := l.Close(); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// untilRefused charges 1 at a time until that is refused, and returns how often
// it was granted, or the error that was no refusal.
var untilRefused = map[string]func(*Ledger) (int, error){
	"charge": chargeUntilRefused,
	"spend":  spendUntilRefused,
}

func chargeUntilRefused(l *Ledger) (granted int, err error) {
	for err == nil {
		if err = charge(l, "ana", 1); err == nil {
			granted++
		}
	}
	return granted, unlessRefused(err)
}

// spendUntilRefused does so in statements of different lengths.
func spendUntilRefused(l *Ledger) (granted int, err error) {
	for n := 1; err == nil; n = n%17 + 1 {
		s := l.NewStatement()
		for i := 0; i < n && err == nil; i++ {
			if err = s.Spender("f", "m").Charge([]byte("ana"), 1); err == nil {
				granted++
			}
		}
		if ending := s.End(); ending != nil {
			return granted, ending
		}
	}
	return granted, unlessRefused(err)
}

func unlessRefused(err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return nil
	}
	return err
}

func TestGoroutinesStopAtTheLimit(t *testing.T) {
	const limit = 400
	for name, charge := range untilRefused {
		l := newFile(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		check(t, l.Reserve("m", []Item{{Account: "ana", Epsilon: 50}}))
		granted := make([]int, 8)
		var all sync.WaitGroup
		for i := range granted {
			all.Go(func() {
				n, err := charge(l)
				if err != nil {
					t.Error(err)
				}
				granted[i] = n
			})
		}
		all.Wait()
		stopsAt(t, name, l, limit, granted)
	}
}

func TestProcessesStopAtTheLimit(t *testing.T) {
	const limit = 400
	for _, role := range []string{"charge", "spend"} {
		l := newFile(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		players := make([]*player, 4)
		for i := range players {
			players[i] = start(t, role, l.Path())
		}
		granted := make([]int, len(players))
		for i, p := range players {
			n, err := strconv.Atoi(p.result(t))
			check(t, err)
			granted[i] = n
		}
		stopsAt(t, role, l, limit, granted)
	}
}

// stopsAt demands that what was granted, and what one more spender gets, is the
// limit. (A spender may be refused while others hold what they return later.)
func stopsAt(t *testing.T, name string, l *Ledger, limit int, granted []int) {
	t.Helper()
	total := 0
	for _, n := range granted {
		total += n
	}
	b := balance(t, l, "ana")
	if b.Spent != budget.Amount(total) || total > limit {
		t.Errorf("%s: granted %v, balance %+v", name, granted, b)
	}
	if name == "charge" && total != limit {
		t.Errorf("charge: granted %v", granted)
	}
	rest, err := chargeUntilRefused(l)
	check(t, err)
	if total+rest != limit {
		t.Errorf("%s: granted %v and then %d", name, granted, rest)
	}
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.total() != budget.Amount(limit) {
		t.Errorf("%s: on disk %v", name, r)
	}
}

func TestProcessesCreateOneLedger(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "x-ledger")
		players := make([]*player, 6)
		for i := range players {
			players[i] = start(t, "identify", path)
		}
		ids := map[string]bool{}
		for _, p := range players {
			ids[p.result(t)] = true
		}
		if len(ids) != 1 {
			t.Errorf("%d ledgers", len(ids))
		}
	}
}

func TestGoroutinesOpenOneLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				l, err := Open(path, true)
				if err == nil {
					err = l.SetLimit("ana", "m", 1, 0)
				}
				if err == nil {
					_, err = l.Balances()
				}
				if err == nil {
					err = l.Close()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Charges and reads of one object from many goroutines at once, for the race
// detector.
func TestConcurrentUse(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			account := []byte(fmt.Sprint("account ", g%2))
			for range 10 {
				s := l.NewStatement()
				for range 40 {
					if err := s.Spender("f", "m").Charge(account, 1); err != nil {
						t.Error(err)
					}
				}
				if err := s.End(); err != nil {
					t.Error(err)
				}
				if err := l.Reserve("m", []Item{{Account: string(account), Epsilon: 30}}); err != nil {
					t.Error(err)
				}
				for _, err := range l.Charges() {
					if err != nil {
						t.Error(err)
					}
					l.Path() // the loop may use the ledger
					if _, err := l.Balance("ana", "m"); err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	path := l.Path()
	check(t, l.Close())
	for g := range 2 {
		if r := onDisk(t, path)[key{fmt.Sprint("account ", g), "m"}]; r != (row{800, 0}) {
			t.Errorf("account %d: %v", g, r)
		}
	}
}

// answersOf counts, by account, the answers that a player wrote before it ended.
func (p *player) answersOf(counts map[byte]int) error {
	in := bufio.NewReader(p.out)
	for {
		account, err := in.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		counts[account]++
	}
}
