package session

import (
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

// Flags holds the flags of every command that prints rows.
type Flags struct {
	Mode     output.Mode
	NoHeader bool
	Ledger   store.LedgerFlags
	Sealed   vault.QueryFlags // of commands that run queries
}

func (f *Flags) Register(fs *flag.FlagSet) {
	output.Register(fs, &f.Mode)
	cli.Switch(fs, "noheader", "do not name the columns of tables and CSV", func() { f.NoHeader = true })
	f.Ledger.Register(fs, "keep the budgets in `FILE`, or at a postgres:// URL (default DB-ledger, beside DB)")
}

// Open opens a database as the flags say.
func (f *Flags) Open(path string, flags sqlite.OpenFlags) (*Session, error) {
	opts, err := f.Sealed.Options()
	if err != nil {
		return nil, err
	}
	s, err := Open(path, flags, f.Ledger, f.Mode, opts...)
	if err == nil {
		s.Look.NoHeader = f.NoHeader
		s.StartOutput()
	}
	return s, err
}
