package planar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// A wktReader reads a geometry in WKT (OGC 06-103r4, section 7) from the front of its text. Keywords are in any case, and
// white space is anywhere between two tokens. At a token out of place, failed is set, and values that are read after it mean nothing.
type wktReader struct {
	text   string
	failed bool
}

var errWKT = errors.New("wkt does not parse")

// parseWKT returns the polygons of a POLYGON or of a MULTIPOLYGON.
func parseWKT(text string) (orb.MultiPolygon, error) {
	r := &wktReader{text: text}
	var polygons orb.MultiPolygon
	switch kind := r.word(); kind {
	case "POLYGON":
		polygons = orb.MultiPolygon{r.polygon()}
	case "MULTIPOLYGON":
		r.list(func() { polygons = append(polygons, r.polygon()) })
	case "":
		return nil, errWKT
	default:
		return nil, fmt.Errorf("wkt must be a POLYGON or a MULTIPOLYGON, not a %.20s", kind)
	}
	if r.skipSpace(); r.failed || r.text != "" {
		return nil, errWKT
	}
	return polygons, nil
}

func (r *wktReader) polygon() (rings orb.Polygon) {
	r.list(func() { rings = append(rings, r.ring()) })
	return rings
}

func (r *wktReader) ring() (points orb.Ring) {
	r.list(func() { points = append(points, orb.Point{r.number(), r.number()}) })
	return points
}

// list reads EMPTY, or one item or more in parentheses with commas between them.
func (r *wktReader) list(item func()) {
	if r.word() == "EMPTY" {
		return
	}
	r.want('(')
	item()
	for !r.failed && !r.accept(')') {
		r.want(',')
		item()
	}
}

// word reads letters, or nothing if none come next. It returns them in upper case.
func (r *wktReader) word() string {
	letters := []byte(r.token(func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }))
	for i := range letters {
		letters[i] &^= 0x20
	}
	return string(letters)
}

// number reads a finite number.
func (r *wktReader) number() float64 {
	x, err := strconv.ParseFloat(r.token(func(c byte) bool { return !isSpace(c) && !strings.ContainsRune("(),", rune(c)) }), 64)
	if err != nil {
		r.failed = true
	}
	return x
}

// token reads the bytes of a kind that come next.
func (r *wktReader) token(is func(byte) bool) string {
	r.skipSpace()
	n := 0
	for n < len(r.text) && is(r.text[n]) {
		n++
	}
	token := r.text[:n]
	r.text = r.text[n:]
	return token
}

func (r *wktReader) want(c byte) {
	if !r.accept(c) {
		r.failed = true
	}
}

func (r *wktReader) accept(c byte) bool {
	r.skipSpace()
	if r.text == "" || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}

func (r *wktReader) skipSpace() {
	for r.text != "" && isSpace(r.text[0]) {
		r.text = r.text[1:]
	}
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
