package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// endless puts a view in the place of a table that never comes to its first row.
func (p *place) endless(table string) {
	p.Helper()
	check(p, p.conn.Exec("ALTER TABLE "+table+" RENAME TO kept; CREATE VIEW "+table+
		" AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT kept.* FROM r, kept WHERE i < 0"))
}

// Nothing waits for a view in the place of a table.
func TestHostileTables(t *testing.T) {
	for table, uses := range map[string][]func(*place, *Keeper) error{
		"geosql_sealed": {
			func(p *place, _ *Keeper) error { _, err := ReadID(p.conn); return err },
			func(p *place, _ *Keeper) error { _, err := Identify(p.conn); return err },
		},
		"geosql_sealed_key": {
			func(p *place, _ *Keeper) error { _, err := HasKey(p.conn, p.key.Public().ID()); return err },
			func(p *place, _ *Keeper) error { return AddKey(p.conn, p.signer.Public()) },
			func(p *place, k *Keeper) error { return p.rekey(k) },
		},
		"geosql_sealed_column": {
			func(p *place, _ *Keeper) error { _, _, err := ReadDeclaration(p.conn); return err },
			func(p *place, _ *Keeper) error { return AddColumn(p.conn, columns[0]) },
		},
		"geosql_universe": {func(p *place, _ *Keeper) error { _, _, err := ReadDeclaration(p.conn); return err }},
		"geosql_domain":   {func(p *place, _ *Keeper) error { _, _, err := ReadDeclaration(p.conn); return err }},
		"geosql_sealed_session": {
			func(_ *place, k *Keeper) error { return k.Refresh(t.Context()) },
			func(p *place, _ *Keeper) error {
				_, err := Open(t.Context(), p.conn, p.ledger, sealed.NewKeyring(p.key))
				return err
			},
			func(p *place, _ *Keeper) error {
				_, err := NewSession(p.conn, p.id, p.key.Public(), p.signer)
				return err
			},
			func(p *place, _ *Keeper) error { _, err := CountSessions(p.conn); return err },
			func(_ *place, k *Keeper) error { _, _, err := k.Closed(); return err },
			func(p *place, k *Keeper) error { return p.rekey(k) },
		},
		"geosql_sealed_account": {
			func(_ *place, k *Keeper) error { return k.Refresh(t.Context()) },
			func(p *place, _ *Keeper) error {
				_, err := Open(t.Context(), p.conn, p.ledger, sealed.NewKeyring(p.key))
				return err
			},
			func(_ *place, k *Keeper) error { _, err := k.Known(); return err },
			func(_ *place, k *Keeper) error { _, err := k.Pseudonyms("ana"); return err },
			func(p *place, _ *Keeper) error { return AddAccount(p.conn, "ana", []byte("entry")) },
			func(p *place, _ *Keeper) error {
				entered, err := Entered(p.conn, p.signer.Public().Verifier())
				check(p, err)
				_, err = entered("ana")
				return err
			},
		},
	} {
		p := newPlace(t)
		p.begin(p.signer).names(1, "ana")
		k := p.keeper()
		p.endless(table)
		for i, use := range uses {
			stop := p.conn.InterruptAfter(10 * time.Second)
			err := use(p, k)
			if inTime := stop(); !inTime || err == nil || !strings.Contains(err.Error(), table+" is a view") {
				t.Errorf("%s, use %d: %v, in time: %v", table, i, err, inTime)
			}
		}
	}
}

// rekey seals all anew for the key that there is.
func (p *place) rekey(k *Keeper) error {
	_, err := k.Rekey(p.key.Public(), p.signer, func(float64) error { return nil })
	return err
}

// A trigger would run when a collector or the owner writes.
func TestHostileTriggers(t *testing.T) {
	p := newPlace(t)
	k := p.keeper()
	check(t, p.conn.Exec(`CREATE TABLE seen(x); CREATE TRIGGER hook BEFORE DELETE ON geosql_sealed_key BEGIN INSERT INTO seen VALUES (old.id); END;
		CREATE TRIGGER other AFTER INSERT ON geosql_sealed_account BEGIN INSERT INTO seen VALUES (new.pseudonym); END`))
	for _, err := range []error{p.rekey(k), AddKey(p.conn, p.signer.Public()), AddAccount(p.conn, "ana", []byte("entry"))} {
		if err == nil || !strings.Contains(err.Error(), "has the trigger") {
			t.Error(err)
		}
	}
	check(t, p.conn.Each("SELECT x FROM seen", func([]sqlite.Value) error { t.Error("a trigger has run"); return nil }))
}

// However large a table is, reading it has an end.
func TestPatience(t *testing.T) {
	p := newPlace(t)
	k := p.keeper()
	defer func(d time.Duration) { patience = d }(patience)
	patience = time.Millisecond
	const want = "reading geosql_sealed_account takes longer than 1ms, restore the database from a backup: interrupted"
	err := each(p.conn, `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r LEFT JOIN main.geosql_sealed_account`,
		func([]sqlite.Value) error { return nil })
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	patience = time.Minute
	if _, err := k.Known(); err != nil {
		t.Error(err)
	}
}
