package collect

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A Collectors holds the flags of the command collector.
type Collectors struct {
	Output        session.Flags
	Keys          vault.KeyFlags
	Verify, Names *string
}

// collectorActions are the actions of the command collector.
var collectorActions = map[string]session.Action[func(t *Collectors, ctx context.Context, v *vault.Vault, name string) error]{
	"add":         {Named: true, Run: (*Collectors).add},
	"revoke":      {Named: true, Run: (*Collectors).revoke},
	"list":        {Run: (*Collectors).list},
	"accounts":    {Run: (*Collectors).accounts},
	"declaration": {Run: (*Collectors).declaration},
}

func (t *Collectors) Run(ctx context.Context, operands []string) error {
	run, name, err := session.Choose("collector", operands, collectorActions)
	switch {
	case err != nil:
		return err
	case (t.Verify != nil) != (operands[1] == "add"):
		return cli.UsageError("collector: add takes the collector's public key with --verify KEY.pub, and nothing else does")
	case (t.Names != nil || len(t.Keys.Names) > 0) && operands[1] != "accounts":
		return cli.UsageError("collector: --key and --names work with accounts only")
	case t.Names == nil && operands[1] == "accounts":
		return cli.UsageError("collector: accounts takes the names with --names FILE")
	}
	v, err := vault.Open(operands[0], t.Output.Ledger)
	if err != nil {
		return err
	}
	return v.Close(run(t, ctx, v, name))
}

// add enrols a collector.
func (t *Collectors) add(_ context.Context, v *vault.Vault, name string) error {
	if slices.Contains(oneTimeNames, name) {
		return fmt.Errorf("collector: %s is the name of keys that the command %s uses once: take another", name, name)
	}
	key, err := vault.ReadPublicKey(*t.Verify)
	if err != nil {
		return err
	}
	added := catalog.Collector{Name: name, Verify: key.Verifier()}
	if v.Record.Revoked[string(added.Verify)] {
		return fmt.Errorf("collector: the key in %s is revoked for ever: the collector needs a new one, from 'geosql keygen'", *t.Verify)
	}
	for _, c := range v.Record.Collectors {
		same := string(c.Verify) == string(added.Verify)
		switch {
		case c.Name == name && !same && !v.Record.Revoked[string(c.Verify)]:
			return fmt.Errorf("collector: %s is enrolled with another key, %s: revoke that one first, or take another name", name, fingerprint(c.Verify))
		case c.Name != name && same:
			return fmt.Errorf("collector: the key in %s is that of %s already", *t.Verify, c.Name)
		}
	}
	if err := v.Ledger.Record(added.Fact()); err != nil {
		return err
	}
	cli.Say("%s may add to %s: it signs with the key %s", name, v.Path, fingerprint(added.Verify))
	return nil
}

// revoke revokes a collector, by its name or by the fingerprint of its key.
func (t *Collectors) revoke(_ context.Context, v *vault.Vault, name string) error {
	all, err := collectors(v)
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
		return fmt.Errorf("collector: there is no collector %s: 'geosql collector %s list' shows all", name, v.Path)
	case len(active) > 1:
		return fmt.Errorf("collector: %s has %d keys: revoke them one by one, by the fingerprints that 'geosql collector %s list' shows", name, len(active), v.Path)
	case len(active) == 0:
		cli.Say("%s was revoked before", name)
		return nil
	}
	c := active[0]
	if err := v.Ledger.Record(c.Revoked()); err != nil {
		return err
	}
	cli.Say("revoked %s: nothing that it has added opens any more, in %s of %s", cmp.Or(c.Name, name), cli.Count(c.sessions, "session"), v.Path)
	return nil
}

// States of collectors.
const (
	stateEnrolled = "enrolled"
	stateRevoked  = "revoked"
	stateStranger = "not enrolled"
)

// A collectorRow is a row of the command's list of collectors.
type collectorRow struct {
	catalog.Collector
	state    string
	sessions int64
}

// collectors returns all collectors: those enrolled, in that order, and then signers that have
// begun sessions without being enrolled. Their values do not open.
func collectors(v *vault.Vault) (all []collectorRow, err error) {
	sessions, err := catalog.CountSessions(v.Conn)
	if err != nil {
		return nil, err
	}
	state := func(verify string, otherwise string) string {
		if v.Record.Revoked[verify] {
			return stateRevoked
		}
		return otherwise
	}
	for _, c := range v.Record.Collectors {
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
func (t *Collectors) list(ctx context.Context, v *vault.Vault, _ string) error {
	all, err := collectors(v)
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
	return session.PrintRows(ctx, t.Output.Mode, rows)
}

// declaration prints what a device needs of the database to seal for it, with the id that commits to it.
func (t *Collectors) declaration(_ context.Context, v *vault.Vault, _ string) error {
	id, d, err := catalog.ReadDeclaration(v.Conn)
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(struct {
		Database string `json:"database"`
		*sealed.Declaration
	}{hex.EncodeToString(id[:]), d})
}

// accounts prints the numbers and pseudonyms of names. Names that the database does not know get
// theirs, in a session of their own.
func (t *Collectors) accounts(ctx context.Context, v *vault.Vault, _ string) error {
	names, err := readNames(*t.Names)
	if err != nil {
		return err
	}
	var list []namedAccount
	added := 0
	err = vault.InTransaction(ctx, v.Conn, func() error { // before anything is read: nobody else adds accounts now
		k, err := v.Keeper("collector", t.Keys)
		if err != nil {
			return err
		}
		known, err := k.Known()
		if err != nil {
			return err
		}
		e := entrant{v: v, key: t.Keys}
		for _, name := range names {
			if v.Record.Erased[name] {
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
		cli.Say("added %s to %s", cli.Count(int64(added), "account"), v.Path)
	}
	return writeAccounts(os.Stdout, list)
}

// oneTimeNames are the names of collectors that commands enrol for one session.
var oneTimeNames = []string{"seal", "append", "accounts", "rekey"}

// fingerprint shows a key that verifies.
func fingerprint(verify []byte) string { return hex.EncodeToString(verify[:min(8, len(verify))]) }
