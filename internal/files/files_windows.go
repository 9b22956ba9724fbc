// Package files hides differences of systems with files that are locked, or renamed and removed while they are
// open.
package files

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks a file until it is closed or the process ends. It reports false if somebody else has locked it. Only
// those are locked out who call Lock: Windows forbids others to read and write bytes that are locked, so the one
// that Lock takes is behind the end of any file.
func Lock(file *os.File) (bool, error) {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// OpenShared opens a file to read and write. Others may rename and remove it while it is open, which Windows
// forbids for files that [os.OpenFile] has opened. Flag may have [os.O_CREATE] and [os.O_EXCL].
func OpenShared(path string, flag int) (*os.File, error) {
	how := uint32(windows.OPEN_EXISTING)
	switch flag {
	case os.O_CREATE:
		how = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_EXCL:
		how = windows.CREATE_NEW
	}
	return open(path, how, 0, windows.FILE_ATTRIBUTE_NORMAL)
}

// CreateNameless creates a file that is gone when it is closed or the process ends. The path is its name until then.
func CreateNameless(path string) (*os.File, error) {
	return open(path, windows.CREATE_NEW, windows.DELETE, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE)
}

func open(path string, how, access, attributes uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|access,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, how, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(file), path), nil
}

// Private reports whether a file has only one name. The permissions of its folder decide who may read it.
func Private(file *os.File) (bool, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info)
	return info.NumberOfLinks == 1, err
}

// Rename gives a file another name, in place of a file that has it, and waits until that is on disk.
func Rename(from, to string) error {
	fail := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: err} }
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return fail(err)
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return fail(err)
	}
	if err := windows.MoveFileEx(old, name, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return fail(err)
	}
	return nil
}

// SyncFolder does nothing, since Windows can sync no folder. [Rename] waits for the new name by itself, and to sync
// a file that was created is to sync its name, which is in a log that NTFS writes first.
func SyncFolder(string) error { return nil }
