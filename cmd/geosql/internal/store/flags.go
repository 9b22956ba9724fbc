package store

import (
	"errors"
	"flag"
	iofs "io/fs"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
)

// LedgerFlags holds the flags that say where the ledger is, and who besides its owner may
// read or write it.
type LedgerFlags struct {
	File string        // or a URL; "" is the ledger beside the database
	Mode iofs.FileMode // 0 is 0600, or the mode that the ledger has
}

// Check refuses a text that names no ledger, and a mode of one on a server. A flag's own error would
// repeat the text, which may hold a password.
func (f LedgerFlags) Check() error {
	if f.File == "" {
		return nil
	}
	if err := engines.Check(f.File); err != nil {
		return cli.UsageError("-ledger: " + err.Error())
	}
	if f.OnServer() && f.Mode != 0 {
		return cli.UsageError("-ledger-mode is for ledgers in files: grant the use of one on a server there, with GRANT")
	}
	return nil
}

// OnServer reports whether the ledger is on a server.
func (f LedgerFlags) OnServer() bool { return engines.IsURL(f.File) }

// RegisterFile defines the flag that says where the ledger is.
func (f *LedgerFlags) RegisterFile(fs *flag.FlagSet, usage string) {
	fs.Func("ledger", usage, func(v string) error {
		if v == "" {
			return errors.New("the file has an empty name")
		}
		f.File = v
		return nil
	})
}

func (f *LedgerFlags) Register(fs *flag.FlagSet, usage string) {
	f.RegisterFile(fs, usage)
	const modeUsage = "set the ledger's mode to `0640|0660`, for its group to read or charge (default 0600, or as it is)"
	fs.Func("ledger-mode", modeUsage, func(v string) error {
		if !HasModes {
			return errors.New("files have no modes on this system: give the ledger's folder the permissions")
		}
		mode, err := strconv.ParseUint(v, 8, 32)
		if err != nil {
			return errors.New("the mode must be like 0640")
		}
		f.Mode = iofs.FileMode(mode)
		return file.CheckMode(f.Mode)
	})
}
