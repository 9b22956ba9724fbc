package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// served measures a task of a client of a server, over sealed values of 60 accounts. Each round has a role of its own.
func served(do string, rows, size int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		database, err := t.sealed(ctx, rows, 60)
		if err != nil {
			return timing{}, err
		}
		password := filepath.Join(t.data, "password")
		role := fmt.Sprint("ann", time.Now().UnixNano())
		if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
			return timing{}, err
		}
		_, _, err = run(ctx, exec.Command(t.geosql, "role", database, "add", role, "--password-file", password, "--columns", "t.x",
			"--epsilon", "kWh=1000000", "--epsilon-min", "kWh=1e-9", "--timeout", "300", "--answers", "1000000000", "--answer-bytes", "1000000000000"))
		if err != nil {
			return timing{}, err
		}
		address, stop, err := t.serve(database)
		if err != nil {
			return timing{}, err
		}
		at := fmt.Sprintf("postgres://%s:secret@%s/%s?sslmode=disable", role, address, strings.TrimSuffix(filepath.Base(database), filepath.Ext(database)))
		took, _, err := task{Do: do, File: at, Rows: rows, Size: size}.start(ctx, t.program)
		return took, errors.Join(err, stop())
	}
}

// serve starts a server of a sealed database, and returns where it listens.
func (t *tree) serve(database string) (address string, stop func() error, err error) {
	cmd := exec.Command(t.geosql, "serve", database, "--key", database+".key", "--listen", "127.0.0.1:0")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()) }
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at, use, found := strings.Cut(lines.Text(), ": "); found && strings.HasPrefix(use, "psql ") {
			go func() {
				for lines.Scan() {
				}
			}()
			return strings.TrimPrefix(at, "listening on "), stop, nil
		}
	}
	return "", nil, errors.Join(errors.New("geosql serve does not listen"), stop())
}

// A session is one with a server.
type session struct{ *pgx.Conn }

// ask reads all rows of a statement, which is prepared before its second time.
func (s session) ask(ctx context.Context, sql string, args ...any) error {
	rows, err := s.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return rows.Err()
}

// sessions opens sessions.
func sessions(ctx context.Context, at string, n int) (all []session, err error) {
	for range n {
		conn, err := pgx.Connect(ctx, at)
		if err != nil {
			return nil, err
		}
		all = append(all, session{conn})
	}
	return all, nil
}

// servedOpens opens sessions, each a moment after the one before, and returns the median time of opening one.
func servedOpens(ctx context.Context, t task) (timing, error) {
	var took []time.Duration
	for range t.Size {
		time.Sleep(200 * time.Millisecond)
		start := time.Now()
		opened, err := sessions(ctx, t.File, 1)
		if err != nil {
			return timing{}, err
		}
		took = append(took, time.Since(start))
		if err := opened[0].Close(ctx); err != nil {
			return timing{}, err
		}
	}
	slices.Sort(took)
	return timing{Seconds: took[len(took)/2].Seconds()}, nil
}

// servedValues asks for an answer of each row, and returns the time of one.
func servedValues(ctx context.Context, t task) (timing, error) {
	all, err := sessions(ctx, t.File, 1)
	if err != nil {
		return timing{}, err
	}
	start := time.Now()
	err = all[0].ask(ctx, "SELECT dx_value(x, $1) FROM t LIMIT $2", 0.1+float64(start.UnixNano()%1e9)*1e-9, t.Size) // no other run has that
	return timing{Seconds: time.Since(start).Seconds() / float64(t.Size)}, err
}

// turnsOfAll is how often callers and their base take turns of a second each.
const turnsOfAll = 4

// together returns the time of a call where many callers make them at the same time, and that of their base.
func together(callers int, call, base func(caller int) error) (timing, error) {
	rate := func(call func(int) error) (float64, error) {
		var calls atomic.Int64
		var all sync.WaitGroup
		failed := make(chan error, callers)
		start := time.Now()
		for caller := range callers {
			all.Go(func() {
				for time.Since(start) < turnTime {
					if err := call(caller); err != nil {
						failed <- err
						return
					}
					calls.Add(1)
				}
			})
		}
		all.Wait()
		select {
		case err := <-failed:
			return 0, err
		default:
			return time.Since(start).Seconds() / float64(calls.Load()), nil
		}
	}
	var best timing
	for turn := range turnsOfAll {
		took, err := rate(base)
		if err != nil {
			return timing{}, err
		}
		now := timing{Base: took}
		if now.Seconds, err = rate(call); err != nil {
			return timing{}, err
		}
		if turn == 0 {
			best = now
		}
		best = timing{min(best.Seconds, now.Seconds), min(best.Base, now.Base)}
	}
	return best, nil
}

// few are the rows of twelve accounts.
const few = "SELECT dx_sum(x, $1) FROM t WHERE rowid <= 12"

// servedAgain has sessions ask a question that was answered before, and for the base SELECT 1.
func servedAgain(ctx context.Context, t task) (timing, error) {
	all, err := sessions(ctx, t.File, t.Size)
	if err != nil {
		return timing{}, err
	}
	return together(len(all), func(caller int) error { return all[caller].ask(ctx, few, 0.5) },
		func(caller int) error { return all[caller].ask(ctx, "SELECT 1") })
}

// servedCharges has sessions ask new questions about twelve accounts, and callers of a ledger of its own charge as many for the base.
func servedCharges(ctx context.Context, t task) (timing, error) {
	all, err := sessions(ctx, t.File, t.Size)
	if err != nil {
		return timing{}, err
	}
	dir, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return timing{}, err
	}
	defer os.RemoveAll(dir)
	l, err := file.Open(filepath.Join(dir, "ledger"), true)
	if err != nil {
		return timing{}, err
	}
	defer l.Close()
	if err := l.SetLimit(ledger.Everyone, "kWh", 1_000_000*budget.One, 0); err != nil {
		return timing{}, err
	}
	items := make([]ledger.Item, 12)
	for i := range items {
		items[i] = ledger.Item{Account: fmt.Sprint("account ", i), Epsilon: 1, Evaluations: 1}
	}
	var asked atomic.Int64
	return together(len(all), func(caller int) error { return all[caller].ask(ctx, few, float64(asked.Add(1))*1e-9) },
		func(int) error { return l.Charge("dx_sum", "kWh", items) })
}
