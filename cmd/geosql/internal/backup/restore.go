package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
)

// A Restore holds the flags of the command restore.
type Restore struct {
	Output     session.Flags
	Yes, Block bool
	To         *string // nil: the backup is used where it is
}

// A backup is an open backup.
type backup struct {
	store.Store
	path   string
	ledger *file.Ledger // open
	origin file.Origin
	head   ledger.Head
}

// Run restores a backup.
//
// Two ledgers of one id that grant budgets side by side do not know each other's
// charges. So a backup takes the place of a ledger only where that is gone. Where it is still
// there and has grown out of the state of the backup, it has every charge that the backup has,
// and it is kept. Where it is still at the place that the backup was made of, nothing but --block
// makes a second one.
func (t *Restore) Run(ctx context.Context, path string) error {
	if !t.Yes && !cli.Interactive() {
		return cli.UsageError("restore: it asks before it changes anything, and there is no terminal to ask on: give --yes")
	}
	if t.To != nil && store.SameFile(path, *t.To) {
		t.To = nil
	}
	b, err := t.openBackup(path)
	if err != nil {
		return err
	}
	if t.To == nil {
		err = t.inPlace(ctx, b)
	} else {
		err = t.toPlace(ctx, b, *t.To)
	}
	err = cmp.Or(err, b.ledger.Close())
	if err == nil && term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("restored %s", *cmp.Or(t.To, &path))
	}
	return err
}

// openBackup opens a backup and verifies its ledger.
func (t *Restore) openBackup(path string) (*backup, error) {
	var f store.LedgerFlags // those given are about DB, if there is one
	if t.To == nil {
		f = t.Output.Ledger
	}
	from, err := store.Find(path, f)
	if err == nil {
		err = cmp.Or(refuseServer(path, from.Ledger), refuseServer(path, t.Output.Ledger.File))
	}
	if err != nil {
		return nil, err
	}
	l, err := from.OpenFile()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s was backed up with its ledger: put %s back", path, from.Ledger)
	case err != nil:
		return nil, err
	case l == nil:
		return nil, fmt.Errorf("%s has no ledger, since nobody had set a limit: use it as it is", path)
	}
	b := &backup{Store: from, path: path, ledger: l}
	if err := b.inspect(); err != nil {
		l.Close()
		return nil, err
	}
	return b, nil
}

// refuseServer returns an error if a ledger is on a server: nothing there is a backup.
func refuseServer(path, where string) error {
	switch {
	case !engines.IsURL(where):
		return nil
	case path == where:
		return fmt.Errorf("restore: %s is a ledger on a server: restore it with PostgreSQL's own means, and then see 'geosql ledger accept -h'", engines.Label(where))
	}
	return fmt.Errorf("restore: the ledger of %s is on a server, %s, and knows all charges since: "+
		"copy the database with 'cp', and name the ledger with --ledger as before", path, engines.Label(where))
}

// inspect reads and verifies the ledger of the backup.
func (b *backup) inspect() error {
	origin, err := b.ledger.Origin()
	switch {
	case err != nil:
		return err
	case origin == nil:
		return fmt.Errorf("%s is no backup made by 'geosql backup', or was restored before: there is nothing to do", b.Ledger)
	}
	b.origin = *origin
	if _, err := b.ledger.Verify("", nil, nil); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", b.Ledger, err)
	}
	b.head, err = b.ledger.Head()
	return err
}

// inPlace puts a backup into use where it is.
func (t *Restore) inPlace(ctx context.Context, b *backup) error {
	if err := t.checkGone(b); err != nil {
		return err
	}
	if err := t.explain(ctx, b); err != nil {
		return err
	}
	return t.adopt(b, b.ledger)
}

// toPlace copies the database of a backup to a place, and its ledger if there is none.
func (t *Restore) toPlace(ctx context.Context, b *backup, to string) error {
	database, at := to, cmp.Or(t.Output.Ledger.File, sqlitefn.LedgerPath(to))
	if b.Database == "" {
		if t.Output.Ledger.File != "" {
			return store.ErrLedgerItself(b.path)
		}
		database, at = "", to
	}
	if err := store.CheckName(to); err != nil {
		return err
	}
	_, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.withLedger(ctx, b, database, at)
	case err != nil:
		return err
	case database == "":
		return fmt.Errorf("ledger %s is still there: there is nothing to restore", at)
	}
	return t.keepLedger(ctx, b, database, at)
}

// keepLedger copies the database of a backup beside the ledger that the backup was made of.
func (t *Restore) keepLedger(ctx context.Context, b *backup, to, at string) error {
	kept, err := file.Open(at, false, file.WithMode(t.Output.Ledger.Mode))
	if err != nil {
		return err
	}
	defer kept.Close()
	later, err := b.chargedSince(kept)
	if err != nil {
		return err
	}
	if t.Block {
		return cli.UsageError(fmt.Sprintf("restore: ledger %s is still there and is kept as it is; leave out --block", at))
	}
	copied, err := store.BeginFile(to)
	if err != nil {
		return err
	}
	defer copied.Remove()
	cli.Say("%s gets the database of the backup, of %s.", to, b.time())
	cli.Say("Ledger %s is kept, so that no charge is lost; its entries since then: %d.", at, later)
	if err := t.ask(ctx); err != nil {
		return err
	}
	if _, err := copyDatabase(ctx, b.Database, copied.Path()); err != nil {
		return err
	}
	if err := keepFacts(kept, b.ledger); err != nil {
		return err
	}
	return copied.Publish()
}

// chargedSince returns the number of entries of a ledger since the backup was made of it. It
// returns an error if the ledger does not have every entry of the backup.
func (b *backup) chargedSince(l *file.Ledger) (entries int64, err error) {
	origin, err := l.Origin()
	switch {
	case err != nil:
		return 0, err
	case l.ID() != b.ledger.ID():
		return 0, fmt.Errorf("ledger %s has id %s, but %s was charged to ledger %s: move it away, or name another with --ledger", l.Path(), l.ID(), b.path, b.ledger.ID())
	case origin != nil:
		return 0, fmt.Errorf("ledger %s is a backup too: move it away, or put that one into use: geosql restore %s", l.Path(), l.Path())
	}
	if err := l.Follows(b.head); err != nil {
		return 0, fmt.Errorf("ledger %s has not grown out of the backup (%w), so neither has all charges: move it away, and restore with --block", l.Path(), err)
	}
	head, err := l.Head()
	return head.ID - b.head.ID, err
}

// withLedger copies a backup with its ledger, and puts the copy into use.
func (t *Restore) withLedger(ctx context.Context, b *backup, database, at string) error {
	if err := t.checkGone(b); err != nil {
		return err
	}
	files, err := store.Begin(database, at)
	if err != nil {
		return err
	}
	defer files.Remove()
	if err := t.explain(ctx, b); err != nil {
		return err
	}
	if _, err := copyStore(ctx, b.Store, files); err != nil {
		return err
	}
	l, err := file.Open(files.Ledger.Path(), false, file.WithMode(t.Output.Ledger.Mode))
	if err != nil {
		return err
	}
	if err := cmp.Or(t.adopt(b, l), l.Close()); err != nil {
		return err
	}
	return files.Publish()
}

// adopt puts the ledger of a backup, or a copy of it, into use. If the ledger that the backup was
// made of is still there, its later facts are kept: an account that is erased from a
// sealed database stays so.
func (t *Restore) adopt(b *backup, l *file.Ledger) error {
	from, err := b.source()
	if err != nil {
		return err
	}
	err = l.Adopt(t.Block)
	if from == nil {
		return err
	}
	if err == nil {
		err = keepFacts(l, from)
	}
	return cmp.Or(err, from.Close())
}

// keepFacts adds the facts of one ledger to another.
func keepFacts(to, from *file.Ledger) error {
	facts, err := from.Facts(context.Background(), 0)
	if err != nil || len(facts) == 0 {
		return err
	}
	return to.Record(facts...)
}

// source returns the ledger that a backup was made of, if it is still where it was, and else nil.
func (b *backup) source() (*file.Ledger, error) {
	if store.SameFile(b.origin.Path, b.Ledger) { // the backup was put in its place
		return nil, nil
	}
	l, err := file.Open(b.origin.Path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("restore: the ledger that the backup was made of may still be in use: %w", err)
	}
	if origin, err := l.Origin(); err != nil || origin != nil || l.ID() != b.ledger.ID() {
		return nil, cmp.Or(err, l.Close()) // another ledger, or a backup that was put there
	}
	return l, nil
}

// checkGone returns an error if the ledger that a backup was made of is still there, unless nothing
// is to be granted.
func (t *Restore) checkGone(b *backup) error {
	if t.Block {
		return nil
	}
	l, err := b.source()
	if l == nil || err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	return fmt.Errorf("ledger %s, which the backup was made of, is still there: "+
		"keep it ('geosql restore %s DB', with --ledger if it is not DB-ledger), move it away, or restore with --block", b.origin.Path, b.path)
}

// explain shows the balances of a backup, warns of charges that it does not know, and asks.
func (t *Restore) explain(ctx context.Context, b *backup) error {
	f := t.Output
	f.Ledger = store.LedgerFlags{}
	if b.Database != "" {
		f.Ledger.File = b.Ledger
	}
	s, err := session.OpenBudgets(b.path, f)
	if err != nil {
		return err
	}
	if err := s.Close(s.ShowBalances(ctx, nil)); err != nil {
		return err
	}
	cli.Say("%s is a backup of %s, up to entry %d of its ledger. These were the balances then.", b.path, b.time(), b.head.ID)
	cli.Say("Charges after that are unknown to it.")
	if t.Block {
		cli.Say("So every limit becomes 0, and nothing is granted until you set new ones.")
	} else {
		cli.Say("That much of the budgets can be spent a second time. If anything may have been charged,")
		cli.Say("give --block: every limit becomes 0, and you set new ones.")
	}
	cli.Say("The ledger records that it was restored. Releases of files that were unfinished are charged again.")
	if err := t.explainSealed(b); err != nil {
		return err
	}
	return t.ask(ctx)
}

// explainSealed lists the other facts that a backup of a sealed database does not know, unless the
// ledger that it was made of is still there and knows.
func (t *Restore) explainSealed(b *backup) error {
	facts, err := b.ledger.Facts(context.Background(), 0)
	if err != nil || len(facts) == 0 {
		return err
	}
	l, err := b.source()
	if err != nil {
		return err
	}
	if l != nil {
		return l.Close()
	}
	cli.Say("Accounts that were erased after it, and collectors that were added or revoked, are unknown to it too:")
	cli.Say("erase and revoke them again, before anybody uses the database.")
	return nil
}

// time returns the time of a backup as text.
func (b *backup) time() string { return b.origin.Time.Format(time.RFC3339) }

// ask asks whether to go on.
func (t *Restore) ask(ctx context.Context) error {
	if t.Yes {
		return nil
	}
	return cli.AskYes(ctx, "Restore it? Type yes: ", "restore: nothing was changed")
}
