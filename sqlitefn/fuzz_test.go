package sqlitefn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// FuzzCall makes a call of any function out of bytes: which function and form,
// how many arguments, and for each a kind and a value. Whatever they are, nothing
// crashes or panics, and a call that fails has charged nothing.
func FuzzCall(f *testing.F) {
	all := forms()
	for i := range all {
		f.Add([]byte{byte(i), 0})   // all arguments good
		wrong := []byte{byte(i), 1} // with another kind of argument at every place; TestBadInput has all kinds everywhere
		for place := range 6 {
			wrong = append(wrong, byte(i+place)%argKinds, 1, 'u')
		}
		f.Add(wrong)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader(b)
		c := all[int(r.byte())%len(all)]
		arities := c.f.Arities()
		n := arities[int(r.byte())%len(arities)]
		args := make([]any, n)
		holders := make([]string, n)
		for i := range args {
			holders[i] = "?"
			if args[i] = r.arg(); args[i] == good {
				holders[i] = sampleOf(c.f, i).good
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
		if !strings.HasPrefix(err.Error(), c.f.Name+": ") {
			t.Errorf("%s %q: error does not start with the function's name: %v", query, args, err)
		}
		if after := d.charged(t); after != before {
			t.Errorf("%s %q: %v, but charged: %s, then %s", query, args, err, before, after)
		}
	})
}

// FuzzSecrets makes the same call with two secrets, out of bytes as FuzzCall does. Public arguments
// may be wrong; the secrets are right. Both calls succeed, or both fail with the same
// error, and they charge the same.
func FuzzSecrets(f *testing.F) {
	var all []form
	for _, c := range forms() {
		if c.f.Section == frame.ReleasedValues && slices.ContainsFunc(c.f.Args, isSecret) {
			all = append(all, c)
		}
	}
	for i := range all {
		for arity := range all[i].f.Arities() {
			f.Add([]byte{byte(i), byte(arity)})
			f.Add(append([]byte{byte(i), byte(arity)}, bytes.Repeat([]byte{0, 200, 0, 0, 0, 0, 0, 0, 255}, 12)...))
			f.Add(append([]byte{byte(i), byte(arity)}, bytes.Repeat([]byte{1, 1, 127, 239, 255, 255}, 12)...))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader(b)
		c := all[int(r.byte())%len(all)]
		arities := c.f.Arities()
		n := arities[int(r.byte())%len(arities)]
		var args [2][]any
		holders := make([]string, n)
		for i := range holders {
			holders[i] = "?"
			if a := c.f.Args[i]; isSecret(a) {
				for world := range args {
					args[world] = append(args[world], r.secret(a.Name))
				}
				continue
			}
			v := r.arg()
			if v == good {
				holders[i] = sampleOf(c.f, i).good
				continue
			}
			args[0], args[1] = append(args[0], v), append(args[1], v)
		}
		query := c.query(holders...)
		var outcomes [2]string
		for world := range args {
			d := newInner(t)
			_, err := d.ask(query, args[world]...)
			outcomes[world] = fmt.Sprintf("%v, charged %s", err, d.charged(t))
		}
		if outcomes[0] != outcomes[1] {
			t.Errorf("%s\nof %v: %s,\nof %v: %s", query, args[0], outcomes[0], args[1], outcomes[1])
		}
	})
}

// isSecret reports whether the argument is a number that is protected.
func isSecret(a *frame.Arg) bool {
	return strings.Contains(a.Is, "(secret)")
}

// secret takes a secret for an argument of that name.
func (r *reader) secret(argument string) any {
	limit := map[string]float64{"lat": 90, "lon": 180, "x": math.MaxFloat64}[argument]
	switch r.byte() % 3 {
	case 0:
		return math.Mod(float64(int64(r.uint64())), limit)
	case 1:
		if x := math.Float64frombits(r.uint64()); math.Abs(x) <= limit {
			return x
		}
		return limit
	default:
		return int64(math.Mod(float64(int64(r.uint64())), min(limit, 1<<62)))
	}
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
