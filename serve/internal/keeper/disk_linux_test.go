package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/serve/internal/wire"
)

// With a full disk of the ledger nobody is answered or charged and earlier answers are given again. With room the service goes on.
func TestFullDiskOfTheLedger(t *testing.T) {
	s := &site{t: t, folder: filestest.SmallDisk(t, 2)}
	s.open(nil)
	x := s.session()
	ask := func(i int) string {
		return fmt.Sprintf("SELECT dx_sum(kwh, 0.000001) FROM reading WHERE hour = 1 OR home = 'nobody %d' OR hour > 23 - %d", i, i%20)
	}
	first := x.want(ask(0))
	filler := filestest.Fill(t, s.folder)
	var refused *wire.Error
	for i := 1; i < 5000 && refused == nil; i++ {
		_, err := x.query(ask(i))
		errors.As(err, &refused)
	}
	if refused == nil || refused.Code != "53100" || refused.Message != errFull.Message {
		t.Fatal(describe(refused))
	}
	spent := s.spent("ana")
	x.wantError("53100", "SELECT dx_sum(kwh, 0.000002) FROM reading")
	if got := x.want(ask(0)); got != first {
		t.Errorf("the first answer again: %s, want %s", got, first)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	x.want("SELECT dx_sum(kwh, 0.000003) FROM reading")
	if now := s.spent("ana"); now != spent+3_000_000 {
		t.Errorf("%v is spent, want 0.000003 more than %v", now, spent)
	}
	if !strings.Contains(s.log.String(), "disk is full") {
		t.Errorf("the log says nothing of the disk")
	}
}

// Whichever disk is full, of a ledger on a server or of temporary files too, the client is told so.
func TestFullDisksAreSaid(t *testing.T) {
	s := newSite(t, nil)
	for _, err := range []error{
		&fs.PathError{Op: "write", Path: "/tmp/geosql-1", Err: unix.ENOSPC},
		fmt.Errorf("ledger: %w", &pgconn.PgError{Code: "53100", Message: "could not extend file"}),
	} {
		if got := s.shown(fmt.Errorf("dx_sum: %w", err)); got != errFull {
			t.Errorf("%v is shown as %v", err, describe(got))
		}
	}
}
