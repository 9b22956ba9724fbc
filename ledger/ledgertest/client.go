package ledgertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// clientVariable makes the test binary play a client in another process.
const clientVariable = "GEOSQL_LEDGERTEST_CLIENT"

// clients are the programs of the test binary as another process, with a ledger that it has opened, and
// arguments. Each test defines the input and output of its clients.
var clients = map[string]func(l ledger.Ledger, args []string) error{
	"observe": observe,
}

// Main is called at the beginning of the TestMain of an engine's tests. In a process that the tests
// have started as a client it opens the ledger, plays the client, and does not return.
func Main(open func(where string) (ledger.Ledger, error)) {
	name := os.Getenv(clientVariable)
	if name == "" {
		return
	}
	if err := play(name, open, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(name string, open func(where string) (ledger.Ledger, error), where string, args []string) error {
	client, ok := clients[name]
	if !ok {
		return errors.New("there is no such client")
	}
	l, err := open(where)
	if err != nil {
		return err
	}
	if err := client(l, args); err != nil {
		return err
	}
	return l.Close()
}

// player is a client in another process.
type player struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

// start starts a client of a ledger.
func (l *testLedger) start(t testing.TB, client string, args ...string) *player {
	t.Helper()
	l.engine.shared(t)
	self, err := os.Executable()
	check(t, err)
	p := &player{t: t, cmd: exec.Command(self, append([]string{l.where}, args...)...)}
	p.cmd.Env = append(os.Environ(), clientVariable+"="+client)
	p.cmd.Stderr = os.Stderr
	p.in, err = p.cmd.StdinPipe()
	check(t, err)
	out, err := p.cmd.StdoutPipe()
	check(t, err)
	p.lines = bufio.NewReader(out)
	check(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.kill()
		}
	})
	return p
}

// say writes a line to the client.
func (p *player) say(line ...any) {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, line...)
	check(p.t, err)
}

// hear reads a line from the client.
func (p *player) hear() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	check(p.t, err)
	return strings.TrimSuffix(line, "\n")
}

// hearNumber reads a line that is a number.
func (p *player) hearNumber() int {
	p.t.Helper()
	n, err := strconv.Atoi(p.hear())
	check(p.t, err)
	return n
}

// end lets the client end, and returns the rest of its output.
func (p *player) end() string {
	p.t.Helper()
	check(p.t, p.in.Close())
	rest, err := io.ReadAll(p.lines)
	check(p.t, err)
	check(p.t, p.cmd.Wait())
	return strings.TrimSpace(string(rest))
}

// kill ends the client as a crash does.
func (p *player) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// An observer is another process that reads the stored ledger, and so nothing of the memory of the process of
// the test.
type observer struct{ *player }

func (l *testLedger) observer(t testing.TB) observer {
	t.Helper()
	return observer{l.start(t, "observe")}
}

// stored returns the stored rows of accounts.
func (o observer) stored(of ...key) map[key]row {
	o.t.Helper()
	asked := make([]observed, len(of))
	for i, k := range of {
		asked[i] = observed{Account: []byte(k.account), Unit: k.unit}
	}
	line, err := json.Marshal(asked)
	check(o.t, err)
	o.say(string(line))
	check(o.t, json.Unmarshal([]byte(o.hear()), &asked))
	all := map[key]row{}
	for i, k := range of {
		all[k] = row{asked[i].Spent, asked[i].Reserved}
	}
	return all
}

// observed is an observer's reading of an account.
type observed struct {
	Account         []byte // any bytes
	Unit            budget.Unit
	Spent, Reserved budget.Amount
}

// observe answers each line of accounts with their stored rows.
func observe(l ledger.Ledger, _ []string) error {
	for lines := json.NewDecoder(os.Stdin); ; {
		var asked []observed
		if err := lines.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for i, a := range asked {
			b, err := l.Balance(string(a.Account), a.Unit)
			if err != nil {
				return err
			}
			asked[i].Spent, asked[i].Reserved = b.Spent, b.Reserved
		}
		if err := json.NewEncoder(os.Stdout).Encode(asked); err != nil {
			return err
		}
	}
}

// watch lets a test look at the stored ledger. On an engine that has no other processes it sees the answers of
// the ledger.
func watch(t testing.TB, l *testLedger) (stored func(of ...key) map[key]row) {
	t.Helper()
	if !l.engine.Alone {
		return l.observer(t).stored
	}
	return func(of ...key) map[key]row {
		all := map[key]row{}
		for _, k := range of {
			b, err := l.Balance(k.account, k.unit)
			check(t, err)
			all[k] = row{b.Spent, b.Reserved}
		}
		return all
	}
}

// stored returns the stored row of an account in "m".
func stored(t testing.TB, l *testLedger, account string) row {
	t.Helper()
	k := key{account, "m"}
	return watch(t, l)(k)[k]
}
