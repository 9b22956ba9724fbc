package keeper

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/geosql/geosql/serve/internal/wire"
)

// A memory counts the bytes that the keeper holds for its sessions. They are taken before they are used. It is safe for
// concurrent use.
type memory struct {
	most    int64
	held    atomic.Int64
	freeing atomic.Bool
}

var (
	errSessionMemory = &wire.Error{Code: "53200", Message: "the server would hold more memory for the session than its role may use",
		Hint: "Ask about fewer rows, or in fewer groups and columns at once, or let the owner raise the role's memory."}
	errServerMemory = &wire.Error{Code: "53200", Message: "the server has no memory left for its sessions", Hint: "Ask again later."}
)

// take takes bytes, or gives them back if they are below 0.
func (m *memory) take(bytes int64) error {
	if held := m.held.Add(bytes); bytes > 0 && held > m.most {
		m.held.Add(-bytes)
		return errServerMemory
	}
	if bytes <= -muchMemory && m.freeing.CompareAndSwap(false, true) {
		time.AfterFunc(freeDelay, func() {
			m.freeing.Store(false)
			debug.FreeOSMemory()
		})
	}
	return nil
}

// After so many bytes were given back, the kernel gets them, soon: Go itself would keep them for minutes.
const (
	muchMemory = 16 << 20
	freeDelay  = 100 * time.Millisecond
)

// Hold implements wire.Session.
func (s *Session) Hold(bytes int64) error {
	bytes = max(bytes, -s.held) // the session may have ended, and given everything back
	if bytes > 0 && s.held+bytes > s.memory() {
		return errSessionMemory
	}
	k := s.keeper
	err := k.memory.take(bytes)
	if err != nil && k.evaluators.drop() {
		err = k.memory.take(bytes)
	}
	if err == nil {
		s.held += bytes
	}
	return err
}

// memory returns the bytes that the session's worker may use. The keeper may hold as many for it.
func (s *Session) memory() int64 {
	if s.role.Memory > 0 {
		return s.role.Memory
	}
	return s.keeper.options.Memory
}

// accountSize is the memory of an account that an evaluator knows, and evaluatorSize that of one that knows none.
const (
	accountSize   = 250
	evaluatorSize = 4 << 20
)

// evaluatorSize returns the memory of an evaluator.
func (k *Keeper) evaluatorSize() int64 {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	return evaluatorSize + accountSize*int64(k.names.Accounts())
}

// unknownMemory stands for the memory of a machine that does not tell.
const unknownMemory = 4 << 30
