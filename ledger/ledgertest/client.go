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

	"github.com/geosql/geosql/ledger"
)

// clientVariable makes the test binary play a client in another process.
const clientVariable = "GEOSQL_LEDGERTEST_CLIENT"

// clients are what the test binary does as another process, with a ledger that it has opened, and
// arguments. What a client writes and reads is up to its test.
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
func (b *book) start(t testing.TB, client string, args ...string) *player {
	t.Helper()
	b.engine.shared(t)
	self, err := os.Executable()
	check(t, err)
	p := &player{t: t, cmd: exec.Command(self, append([]string{b.where}, args...)...)}
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

// end lets the client end, and returns the rest of what it writes.
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

// An observer is another process that reads what is stored, and so nothing of what the process of
// the test has in its memory.
type observer struct{ *player }

func (b *book) observer(t testing.TB) observer {
	t.Helper()
	return observer{b.start(t, "observe")}
}

// stored returns the balances of all accounts that were ever charged or reserved anything.
func (o observer) stored() map[key]row {
	o.t.Helper()
	o.say("balances")
	var balances []ledger.Balance
	check(o.t, json.Unmarshal([]byte(o.hear()), &balances))
	return rows(balances)
}

// rows returns the balances of accounts that were ever charged or reserved anything.
func rows(balances []ledger.Balance) map[key]row {
	all := map[key]row{}
	for _, b := range balances {
		if !b.LastCharge.IsZero() || b.Reserved != 0 {
			all[key{b.Account, b.Unit}] = row{b.Spent, b.Reserved}
		}
	}
	return all
}

// observe writes the balances for each line that it reads.
func observe(l ledger.Ledger, _ []string) error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		balances, err := l.Balances()
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(balances); err != nil {
			return err
		}
	}
	return nil
}

// stored returns what another process sees, once. On an engine that has no other processes it is
// what the ledger tells.
func stored(t testing.TB, l *book) map[key]row {
	t.Helper()
	if !l.engine.Alone {
		o := l.observer(t)
		defer o.end()
		return o.stored()
	}
	balances, err := l.Balances()
	check(t, err)
	return rows(balances)
}
