package accounts

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
)

// A spill holds runs of accounts in a file without a name. A run is in ascending order, and
// an account may be in several runs (Knuth, The Art of Computer Programming, volume 3
// (1998), section 5.4).
type spill struct {
	file   *os.File
	size   int64
	order  int         // number of runs merged at a time
	levels [][]stretch // levels[i] holds the runs merged i times, fewer than order
}

// A stretch is the place of a run in the file.
type stretch struct{ start, size, accounts int64 }

func newSpill(open func() (*os.File, error), order int) (*spill, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &spill{file: f, order: order}, nil
}

func (s *spill) close() { s.file.Close() }

// add adds a run. As soon as a level has order runs, they are merged into a run of the next
// level. So few runs remain in the end, and every account is written once per level.
func (s *spill) add(all iter.Seq2[Account, error]) error {
	for level := 0; ; level++ {
		x, err := s.write(all)
		if err != nil {
			return err
		}
		if level == len(s.levels) {
			s.levels = append(s.levels, nil)
		}
		s.levels[level] = append(s.levels[level], x)
		if len(s.levels[level]) < s.order {
			return nil
		}
		all = s.merged(s.levels[level])
		s.levels[level] = nil
	}
}

// merge merges all runs into one, in which every account occurs once.
func (s *spill) merge(ctx context.Context) (stretch, error) {
	all := s.merged(slices.Concat(s.levels...))
	s.levels = nil
	return s.write(until(ctx, all))
}

// buffered is the number of bytes of a run that are read or written at a time.
const buffered = 1 << 16

// write appends a run to the file: for each account the number of locations, the length of
// the name, and the name.
func (s *spill) write(all iter.Seq2[Account, error]) (x stretch, err error) {
	x.start = s.size
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, x.start), buffered)
	var room []byte
	for a, err := range all {
		if err != nil {
			return x, err
		}
		room = binary.AppendUvarint(room[:0], uint64(a.Locations))
		room = binary.AppendUvarint(room, uint64(len(a.Name)))
		room = append(room, a.Name...)
		if _, err := w.Write(room); err != nil {
			return x, err
		}
		x.size += int64(len(room))
		x.accounts++
	}
	s.size += x.size
	return x, w.Flush()
}

// all returns the accounts of a run, without its first ones.
func (s *spill) all(x stretch, first int64) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		r := s.read(x)
		for n := int64(0); ; n++ {
			switch err := r.next(); {
			case err == io.EOF:
				return
			case err != nil:
				yield(Account{}, err)
				return
			}
			if n >= first && !yield(r.at, nil) {
				return
			}
		}
	}
}

// A reader reads a run.
type reader struct {
	file string
	from *bufio.Reader
	left int64 // number of accounts after at
	at   Account
	size int // of at in the file
}

func (s *spill) read(x stretch) *reader {
	from := io.NewSectionReader(s.file, x.start, x.size)
	return &reader{file: s.file.Name(), from: bufio.NewReaderSize(from, buffered), left: x.accounts}
}

// next goes to the next account, or returns io.EOF after the last.
func (r *reader) next() error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	err := r.decode()
	if err == io.EOF {
		err = fmt.Errorf("read %s: %w", r.file, io.ErrUnexpectedEOF)
	}
	return err
}

// usual is the number of bytes that hold the numbers of any account, and the whole of most.
const usual = 64

// decode reads an account. Its name stays in the buffer until the next account is read.
func (r *reader) decode() error {
	if _, err := r.from.Discard(r.size); err != nil {
		return err
	}
	account, err := r.from.Peek(usual) // fewer at the end of the file
	locations, n := binary.Uvarint(account)
	length, m := binary.Uvarint(account[max(n, 0):])
	if n <= 0 || m <= 0 || length > math.MaxInt32 {
		return cmp.Or(err, errDamaged)
	}
	r.size = n + m + int(length)
	if r.size > len(account) {
		if account, err = r.from.Peek(r.size); err != nil {
			return err
		}
	}
	r.at = Account{account[n+m : r.size], int64(locations)}
	return nil
}

var errDamaged = errors.New("a number is too large")
