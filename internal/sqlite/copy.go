package sqlite

/*
#include "shim.h"
*/
import "C"

import "unsafe"

const (
	copyPages    = 1024 // how many pages are copied at a time
	copyRestarts = 3    // how often a copy begins anew before writers have to wait
)

// CopyFrom makes the main database of c, which no statement may use meanwhile, a copy of that
// of from, page by page. It reads one state of from, which others may use. It calls each with
// the share that is done, and ends with the error that each returns.
//
// A transaction that from has open decides which state that is. Otherwise, in WAL mode, where
// a reader keeps nobody waiting, CopyFrom opens one. In other modes it lets others write after
// every few pages and then begins anew; if that happens too often, they have to wait.
func (c *Conn) CopyFrom(from *Conn, each func(share float64) error) (err error) {
	wal, err := from.inWALMode()
	if err != nil {
		return err
	}
	held := !from.AutoCommit()
	hold := func() error {
		held = true
		return from.Exec("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1") // the first to read fixes the state
	}
	if !held {
		defer func() {
			if held && !from.AutoCommit() {
				_ = from.Exec("ROLLBACK") // it has only read
			}
		}()
	}
	if wal && !held {
		if err := hold(); err != nil {
			return err
		}
	}
	backup := C.gs_backup_init(c.db, from.db)
	if backup == nil {
		return c.lastError()
	}
	err = copySteps(backup, each, func(restarts int) error {
		if restarts < copyRestarts || held {
			return nil
		}
		return hold()
	})
	if rc := C.gs_backup_finish(backup); rc != 0 && err == nil {
		err = errorOf(rc)
	}
	return err
}

// copySteps copies until everything is there. It calls restarted when the copy has begun anew,
// with how often it has.
func copySteps(backup unsafe.Pointer, each func(share float64) error, restarted func(times int) error) error {
	restarts, before := 0, -1
	for {
		switch rc := C.gs_backup_step(backup, copyPages); rc {
		case 101: // SQLITE_DONE
			return nil
		case 0:
		default:
			return errorOf(rc)
		}
		left, all := int(C.gs_backup_remaining(backup)), int(C.gs_backup_pages(backup))
		if before >= 0 && left >= before {
			restarts++
			if err := restarted(restarts); err != nil {
				return err
			}
		}
		before = left
		if err := each(1 - float64(left)/float64(max(all, 1))); err != nil {
			return err
		}
	}
}

// inWALMode reports whether the main database is in WAL mode.
func (c *Conn) inWALMode() (wal bool, err error) {
	err = c.Each("PRAGMA main.journal_mode", func(row []Value) error {
		wal = row[0].Text() == "wal"
		return nil
	})
	return wal, err
}
