package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

var collectorCommand = &cli.Command{
	Name: "collector", Operands: "OUT ACTION ..", Min: 2, Max: 3,
	Summary: "say who may add values to a sealed database",
	Details: `OUT is a sealed database. Only values of collectors that its ledger knows open. ACTION is one of:

add NAME --verify KEY.pub
    enrols the collector that signs with KEY: geosql append --sign KEY
revoke NAME
    nothing that the collector has added or will add opens any more, at once and for ever; NAME may
    also be a fingerprint that list shows
list
    prints name, fingerprint, state and number of sessions in OUT
accounts --key KEY --names FILE
    prints account, number and pseudonym, as CSV, of the names in FILE, one a line: for
    'geosql append --accounts'. OUT gets those that it does not know. Give each collector the names
    that it sends, and no others

The keys that seal, append, accounts and rekey sign with once are in the list too.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t collectorTask
		t.output.register(fs)
		t.keys.register(fs, "with accounts: the owner's private `KEY`; may be given again for older keys")
		optionalVar(fs, &t.verify, "verify", "with add: the public key in `KEY.pub`, which the collector has made with 'geosql keygen KEY'")
		optionalVar(fs, &t.names, "names", "with accounts: the names in `FILE`, one a line")
		return func(ctx context.Context, operands []string) error { return t.run(ctx, operands) }
	},
}

// A collectorTask holds the flags of the command collector.
type collectorTask struct {
	output        outputFlags
	keys          keyFlags
	verify, names *string
}

// collectorActions are what the command collector does, and whether a name follows.
var collectorActions = map[string]struct {
	named bool
	run   func(t *collectorTask, ctx context.Context, v *vault, name string) error
}{
	"add":      {true, (*collectorTask).add},
	"revoke":   {true, (*collectorTask).revoke},
	"list":     {false, (*collectorTask).list},
	"accounts": {false, (*collectorTask).accounts},
}

func (t *collectorTask) run(ctx context.Context, operands []string) error {
	action, ok := collectorActions[operands[1]]
	name := ""
	if len(operands) == 3 {
		name = operands[2]
	}
	switch {
	case !ok:
		return cli.UsageError(fmt.Sprintf("collector: after OUT write %s, not %s", strings.Join(slices.Sorted(maps.Keys(collectorActions)), " or "), operands[1]))
	case action.named && name == "":
		return cli.UsageError(fmt.Sprintf("collector: name the collector: geosql collector %s %s NAME", operands[0], operands[1]))
	case !action.named && len(operands) == 3:
		return cli.UsageError("collector: too many arguments")
	case (t.verify != nil) != (operands[1] == "add"):
		return cli.UsageError("collector: add takes the collector's public key with --verify KEY.pub, and nothing else does")
	case (t.names != nil || len(t.keys.names) > 0) && operands[1] != "accounts":
		return cli.UsageError("collector: --key and --names work with accounts only")
	case t.names == nil && operands[1] == "accounts":
		return cli.UsageError("collector: accounts takes the names with --names FILE")
	}
	v, err := openVault(operands[0], t.output.ledger)
	if err != nil {
		return err
	}
	return v.close(action.run(t, ctx, v, name))
}

// add enrols a collector.
func (t *collectorTask) add(_ context.Context, v *vault, name string) error {
	if slices.Contains(oneTimeNames, name) {
		return fmt.Errorf("collector: %s is the name of keys that the command %s uses once: take another", name, name)
	}
	key, err := readPublicKey(*t.verify)
	if err != nil {
		return err
	}
	added := catalog.Collector{Name: name, Verify: key.Verifier()}
	if v.record.Revoked[string(added.Verify)] {
		return fmt.Errorf("collector: the key in %s is revoked for ever: the collector needs a new one, from 'geosql keygen'", *t.verify)
	}
	for _, c := range v.record.Collectors {
		same := string(c.Verify) == string(added.Verify)
		switch {
		case c.Name == name && !same && !v.record.Revoked[string(c.Verify)]:
			return fmt.Errorf("collector: %s is enrolled with another key, %s: revoke that one first, or take another name", name, fingerprint(c.Verify))
		case c.Name != name && same:
			return fmt.Errorf("collector: the key in %s is that of %s already", *t.verify, c.Name)
		}
	}
	if err := v.book.Record(added.Fact()); err != nil {
		return err
	}
	cli.Say("%s may add to %s: it signs with the key %s", name, v.path, fingerprint(added.Verify))
	return nil
}

// revoke revokes a collector, by its name or by the fingerprint of its key.
func (t *collectorTask) revoke(_ context.Context, v *vault, name string) error {
	all, err := v.collectors()
	if err != nil {
		return err
	}
	var found []collectorRow
	for _, c := range all {
		if c.Name == name || fingerprint(c.Verify) == name {
			found = append(found, c)
		}
	}
	active := slices.DeleteFunc(slices.Clone(found), func(c collectorRow) bool { return c.state == stateRevoked })
	switch {
	case len(found) == 0:
		return fmt.Errorf("collector: there is no collector %s: 'geosql collector %s list' shows all", name, v.path)
	case len(active) > 1:
		return fmt.Errorf("collector: %s has %d keys: revoke them one by one, by the fingerprints that 'geosql collector %s list' shows", name, len(active), v.path)
	case len(active) == 0:
		cli.Say("%s was revoked before", name)
		return nil
	}
	c := active[0]
	if err := v.book.Record(c.Revoked()); err != nil {
		return err
	}
	cli.Say("revoked %s: nothing that it has added opens any more, in %s of %s", cmp.Or(c.Name, name), count(c.sessions, "session"), v.path)
	return nil
}

// States of collectors.
const (
	stateEnrolled = "enrolled"
	stateRevoked  = "revoked"
	stateStranger = "not enrolled"
)

// A collectorRow is what the command shows of a collector.
type collectorRow struct {
	catalog.Collector
	state    string
	sessions int64
}

// collectors returns all collectors: those enrolled, in that order, and then those that have
// begun sessions without being enrolled, whose values do not open.
func (v *vault) collectors() (all []collectorRow, err error) {
	sessions, err := catalog.CountSessions(v.conn)
	if err != nil {
		return nil, err
	}
	state := func(verify string, otherwise string) string {
		if v.record.Revoked[verify] {
			return stateRevoked
		}
		return otherwise
	}
	for _, c := range v.record.Collectors {
		verify := string(c.Verify)
		all = append(all, collectorRow{c, state(verify, stateEnrolled), sessions[verify]})
		delete(sessions, verify)
	}
	for _, verify := range slices.Sorted(maps.Keys(sessions)) {
		all = append(all, collectorRow{catalog.Collector{Verify: []byte(verify)}, state(verify, stateStranger), sessions[verify]})
	}
	return all, nil
}

// list prints the collectors.
func (t *collectorTask) list(ctx context.Context, v *vault, _ string) error {
	all, err := v.collectors()
	if err != nil {
		return err
	}
	type row struct {
		Name        *string `json:"name"`
		Fingerprint string  `json:"fingerprint"`
		State       string  `json:"state"`
		Sessions    int64   `json:"sessions"`
	}
	rows := []row{}
	for _, c := range all {
		r := row{nil, fingerprint(c.Verify), c.state, c.sessions}
		if c.Name != "" {
			r.Name = &c.Name
		}
		rows = append(rows, r)
	}
	return printObjects(ctx, t.output.mode, rows, listSQL)
}

// printObjects prints the rows that a query makes of its parameter, which has objects in JSON.
func printObjects(ctx context.Context, m mode, objects any, sql string) error {
	text, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	s, err := openSession(":memory:", sqlite.ReadWrite, ledgerFlags{}, m)
	if err != nil {
		return err
	}
	param := string(text)
	return s.close(s.runWith(ctx, sql, &param))
}

// listSQL returns the rows that its parameter has in JSON.
const listSQL = `SELECT value->>'name' AS name, value->>'fingerprint' AS fingerprint, value->>'state' AS state, value->>'sessions' AS sessions
FROM json_each(?1) ORDER BY key`

// accounts prints the numbers and pseudonyms of names. Those that the database does not know get
// theirs, in a session of their own.
func (t *collectorTask) accounts(ctx context.Context, v *vault, _ string) error {
	names, err := readNames(*t.names)
	if err != nil {
		return err
	}
	var list []namedAccount
	added := 0
	err = inTransaction(ctx, v.conn, func() error { // before anything is read: nobody else adds accounts now
		k, err := v.keeper("collector", t.keys)
		if err != nil {
			return err
		}
		known, err := k.Known()
		if err != nil {
			return err
		}
		e := entrant{v: v, key: t.keys}
		for _, name := range names {
			if v.record.Erased[name] {
				cli.Say("'%s' is erased and left out", name)
				continue
			}
			a, there := known[name]
			if !there {
				if a, err = e.enter(name); err != nil {
					return err
				}
				added++
			}
			list = append(list, namedAccount{name, a})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if added > 0 {
		cli.Say("added %s to %s", count(int64(added), "account"), v.path)
	}
	return writeAccounts(os.Stdout, list)
}

// An entrant adds accounts to a database in a session that begins with the first one.
type entrant struct {
	v      *vault
	key    keyFlags
	sealer *sealed.Sealer
}

// enter adds a name with a new number and pseudonym.
func (e *entrant) enter(name string) (a sealed.Account, err error) {
	if e.sealer == nil {
		keys, err := readPrivateKeys(e.key.names[:1], e.key.passphrase)
		if err != nil {
			return a, err
		}
		signer, err := e.v.enrolOnce("accounts")
		if err == nil {
			e.sealer, err = catalog.NewSession(e.v.conn, *e.v.record.Database, keys[0].Public(), signer)
		}
		if err != nil {
			return a, err
		}
	}
	a = sealed.NewAccount()
	entry, err := e.sealer.SealAccount(a.Number, name)
	if err == nil {
		err = catalog.AddAccount(e.v.conn, a.Pseudonym, entry)
	}
	return a, err
}

// A namedAccount is what a collector is given of an account.
type namedAccount struct {
	name string
	sealed.Account
}

// accountsHeader is the first line of a file of accounts.
var accountsHeader = []string{"account", "number", "pseudonym"}

// writeAccounts writes a file of accounts.
func writeAccounts(w io.Writer, list []namedAccount) error {
	out := bufio.NewWriter(w)
	line := func(cells ...string) {
		for i, c := range cells {
			if i > 0 {
				out.WriteByte(',')
			}
			if strings.ContainsAny(c, ",;\t\"\r\n") || strings.TrimSpace(c) != c {
				c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			}
			out.WriteString(c)
		}
		out.WriteByte('\n')
	}
	line(accountsHeader...)
	for _, a := range list {
		line(a.name, strconv.FormatUint(a.Number, 10), a.Pseudonym)
	}
	return out.Flush()
}

// readAccounts reads a file that writeAccounts has written.
func readAccounts(ctx context.Context, path string) (map[string]sealed.Account, error) {
	all := map[string]sealed.Account{}
	columns := [][]string{{accountsHeader[0]}, {accountsHeader[1]}, {accountsHeader[2]}}
	err := cli.ReadColumns(ctx, path, columns, func(where func() string, cells []string) error {
		number, err := strconv.ParseUint(cells[1], 10, 64)
		if err != nil {
			return errors.New("the number is none of 'geosql collector OUT accounts'")
		}
		if !isPseudonym(cells[2]) {
			return errors.New("the pseudonym has other than 16 hexadecimal digits")
		}
		if err := checkAccountName(cells[0]); err != nil {
			return err
		}
		a := sealed.Account{Number: number, Pseudonym: cells[2]}
		if earlier, there := all[cells[0]]; there && earlier != a {
			return fmt.Errorf("account '%s' has another number above", cells[0])
		}
		all[cells[0]] = a
		return nil
	})
	return all, err
}

// isPseudonym reports whether a text has 16 hexadecimal digits.
func isPseudonym(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// checkAccountName refuses what cannot be the name of an account.
func checkAccountName(name string) error {
	switch {
	case name == "*":
		return errors.New("'*' stands for every account and is none")
	case !utf8.ValidString(name):
		return errors.New("the name of an account is not UTF-8 text")
	}
	return nil
}

// readNames returns the lines of a file, each once.
func readNames(path string) (names []string, err error) {
	text, err := readFileOrZip(path)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		number++
		name := string(bytes.TrimRight(line, "\r\n"))
		if name == "" || seen[name] {
			continue
		}
		if err := checkAccountName(name); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, number, err)
		}
		seen[name] = true
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no names", path)
	}
	return names, nil
}

// readFileOrZip returns the contents of a file, which may be compressed.
func readFileOrZip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, z.Close()
}
