package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// privateMode is the mode of a ledger and of the files beside it. Accounts and their spending
// are for the owner: see docs/threat-model.md.
const privateMode fs.FileMode = 0o600

// hasModes is false on Windows, where who may read the folder of a ledger may read the ledger.
const hasModes = runtime.GOOS != "windows"

// CheckMode returns an error for a mode that a ledger cannot have. Its owner reads and writes
// it, its group may read, or read and write, and nobody else may do either. Windows has no modes, so
// that none can be kept there.
func CheckMode(mode fs.FileMode) error {
	if !hasModes {
		return errors.New("files have no modes on Windows: the permissions of its folder say who may read a ledger")
	}
	switch mode {
	case 0o600, 0o640, 0o660:
		return nil
	}
	return fmt.Errorf("the mode of a ledger is 0600, 0640 or 0660, not %#o", uint32(mode))
}

// mode returns the mode of the ledger's file, which its archives get too.
func (l *Ledger) mode() fs.FileMode {
	if file, err := os.Stat(l.path); err == nil && l.path != "" && hasModes {
		return file.Mode().Perm()
	}
	return privateMode
}

// applyMode gives a ledger the mode that was asked for. If none was, the ledger keeps its own
// mode, unless that lets everybody in, as ledgers of earlier versions did. The files beside the
// ledger get the same mode: a log that a process has left when it was killed may have another.
func applyMode(path string, asked fs.FileMode) error {
	if !hasModes {
		return nil
	}
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := cmp.Or(asked, file.Mode().Perm())
	if mode&0o007 != 0 {
		mode = privateMode
	}
	for _, suffix := range append([]string{"", "-queue"}, companions...) {
		err := setMode(path+suffix, mode)
		switch {
		case errors.Is(err, fs.ErrPermission) && asked == 0: // it is another user's
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// setMode gives a file a mode that it does not have.
func setMode(path string, mode fs.FileMode) error {
	file, err := os.Stat(path)
	if err != nil || file.Mode().Perm() == mode {
		return err
	}
	return os.Chmod(path, mode)
}
