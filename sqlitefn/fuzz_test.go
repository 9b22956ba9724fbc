package sqlitefn

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// FuzzCall makes a call of any function out of bytes: which function and form,
// how many arguments, and for each a kind and a value. Whatever they are, nothing
// crashes or panics, and a call that fails has charged nothing.
func FuzzCall(f *testing.F) {
	all := forms()
	for i := range all {
		f.Add([]byte{byte(i), 0}) // all arguments good
		for kind := range byte(argKinds) {
			f.Add([]byte{byte(i), 0, kind, 1, 'u', kind, 1, 'u', kind, 1, 'u', kind, 1, 'u', kind, 1, 'u', kind, 1, 'u'})
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader(b)
		c := all[int(r.byte())%len(all)]
		arities := c.f.arities()
		n := arities[int(r.byte())%len(arities)]
		args := make([]any, n)
		holders := make([]string, n)
		for i := range args {
			holders[i] = "?"
			if args[i] = r.arg(); args[i] == good {
				holders[i] = c.f.sample(i).good
				args[i] = nil
			}
		}
		d := newInner(t)
		before := d.charged(t)
		query := c.query(holders...)
		_, err := d.ask(query, parameters(holders, args)...)
		if err == nil {
			return
		}
		if strings.Contains(err.Error(), "internal error") {
			t.Errorf("%s %q: %v", query, args, err)
		}
		if !strings.HasPrefix(err.Error(), c.f.name+": ") {
			t.Errorf("%s %q: error does not start with the function's name: %v", query, args, err)
		}
		if after := d.charged(t); after != before {
			t.Errorf("%s %q: %v, but charged: %s, then %s", query, args, err, before, after)
		}
	})
}

// parameters are the arguments that are parameters.
func parameters(holders []string, args []any) (list []any) {
	for i, h := range holders {
		if h == "?" {
			list = append(list, args[i])
		}
	}
	return list
}

// reader takes values off the front of bytes, and good arguments when they end.
type reader []byte

func (r *reader) byte() byte {
	if len(*r) == 0 {
		return 0
	}
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

func (r *reader) bytes(n int) []byte {
	b := (*r)[:min(n, len(*r))]
	*r = (*r)[len(b):]
	return b
}

func (r *reader) uint64() uint64 {
	var room [8]byte
	copy(room[:], r.bytes(8))
	return binary.LittleEndian.Uint64(room[:])
}

// goodArg stands for an argument that does not fail by itself.
type goodArg struct{}

var good any = goodArg{}

const argKinds = 8

func (r *reader) arg() any {
	switch r.byte() % argKinds {
	case 1:
		return nil
	case 2:
		return int64(r.uint64())
	case 3:
		return math.Float64frombits(r.uint64())
	case 4:
		return float64(int8(r.byte())) * math.Pow10(int(int8(r.byte())))
	case 5:
		return string(r.bytes(int(r.byte())))
	case 6:
		return append([]byte{}, r.bytes(int(r.byte()))...)
	default: // more often than others, so that calls get far
		return good
	}
}
