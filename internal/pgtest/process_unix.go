//go:build unix

package pgtest

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// supported says why servers cannot run here, or nil.
func supported() error { return nil }

// account is the user that servers run as; nil for the user who runs the tests.
type account struct{ uid, gid uint32 }

// ordinaryUser returns the user for servers: PostgreSQL and PgBouncer refuse to run as root.
func ordinaryUser() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &account{uint32(uid), uint32(gid)}, nil
	}
	return nil, errors.New("the tests run as root, and there is neither a user postgres nor nobody to run the server as")
}

// attributes returns those of a process that runs as a.
func attributes(a *account) *syscall.SysProcAttr {
	attr := detached()
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	dieWithParent(attr)
	return attr
}

// detached returns the attributes of a process that the terminal's signals do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// give makes a file that user's.
func (a *account) give(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// mayEnter reports whether a can enter a folder.
func (a *account) mayEnter(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case a == nil || !ok:
		return true // the user of the tests has made a file there
	case s.Uid == a.uid:
		return mode&0o100 != 0
	case s.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

const (
	fastStop      = syscall.SIGINT
	immediateStop = syscall.SIGQUIT
	pause         = syscall.SIGSTOP
	reload        = syscall.SIGHUP
)
