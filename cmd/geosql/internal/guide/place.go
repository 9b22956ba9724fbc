package guide

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/boxes"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
)

// A placePlan holds the decisions about the locations of a file.
type placePlan struct {
	lat, lon string // columns
	box      declaredBox
	domain   *planar.Domain
	epsilon  *big.Rat // per metre, of one release
	tally    boxes.Tally
}

// A declaredBox is the declaration of a domain.
type declaredBox struct {
	name                            string
	south, west, north, east, stepM float64
}

// build returns the domain without its region.
func (b declaredBox) build() (*planar.Domain, error) {
	return planar.NewDomain(b.name, b.south, b.west, b.north, b.east, b.stepM)
}

// nearlyAll is the share of the locations that an offered box holds at least.
const nearlyAll = 0.99

// longestOffer is the number of boxes that are offered.
const longestOffer = 8

const boxText = `A box says where locations can lie. It is public: everybody who sees an answer may know it. The
extent of the data themselves is not free to publish, since its edges show where the outermost
locations are. That a box of this list was chosen shows only that the data lie there. Locations
outside it are moved to its edge before anything else happens.
`

// askPlace asks in which box the locations lie, and for their epsilon.
func (t *Task) askPlace(ctx context.Context, p *plan) error {
	if err := p.count(); err != nil {
		return err
	}
	t.warnAccounts(p)
	if p.place == nil {
		return nil
	}
	if p.place.tally.Total() == 0 {
		return fmt.Errorf("init: no row of %s has both %s and %s", p.File, p.place.lat, p.place.lon)
	}
	if err := t.askSwap(ctx, p.place); err != nil {
		return err
	}
	offered, err := t.offeredBoxes(p)
	if err != nil {
		return err
	}
	t.showBoxes(p.place, offered)
	err = t.talk.settle(ctx, question{flag: "box", open: true, preset: firstOf(len(offered)),
		text: "Box: a number, the name of a place, or SOUTH,WEST,NORTH,EAST",
		help: "Take the smallest box of the list that holds all such data: the noise does not depend on it, but heat maps have fewer empty cells. " +
			"A place is a country or a large city, as in Portugal or Lisbon.",
		need:   "use --box PLACE or --box SOUTH,WEST,NORTH,EAST" + heldText(offered),
		accept: func(answer string) error { return t.takeBox(p, offered, answer) }})
	if err != nil {
		return err
	}
	t.talk.say("domain %s", p.place.domain)
	return t.askPlaceEpsilon(ctx, p.place)
}

// count reads the file again, now that it is known which columns matter: it counts accounts, and
// locations by their places.
func (p *plan) count() error {
	account := p.find(p.account)
	if strings.HasPrefix(p.account, "const:") {
		account = -1
	}
	rows := map[string]int64{}
	err := load.EachRow(p.data, "counting", func(batch *dataset.Rows, i int) error {
		if account >= 0 {
			if name, null := batch.Columns[account].At(i); !null {
				rows[string(name)]++
			}
		}
		if p.place == nil {
			return nil
		}
		lat, lon, known := p.location(batch, i)
		if known {
			p.place.tally.Add(lat, lon)
		}
		return nil
	})
	p.accounts = int64(len(rows))
	for _, n := range rows {
		p.mostRows = max(p.mostRows, n)
	}
	if account < 0 {
		p.accounts, p.mostRows = 1, p.Rows
	}
	return err
}

// location returns the location of a row, unless a coordinate is NULL.
func (p *plan) location(batch *dataset.Rows, i int) (lat, lon float64, known bool) {
	lat, first := p.number(p.place.lat, batch, i)
	lon, second := p.number(p.place.lon, batch, i)
	return lat, lon, first && second
}

// number returns the number of a row in a numeric column, unless it is NULL.
func (p *plan) number(column string, batch *dataset.Rows, i int) (x float64, known bool) {
	c := p.find(column)
	f := &p.Columns[c]
	if f.Kind == dataset.Integer {
		n, null, ok := batch.Columns[c].Integer(i)
		return float64(n), ok && !null
	}
	x, null, ok := f.Real(&batch.Columns[c], i)
	return x, ok && !null
}

// warnAccounts warns of risks of the accounts.
func (t *Task) warnAccounts(p *plan) {
	i := p.find(p.account)
	if i < 0 {
		return
	}
	t.talk.say("%s (for the owner only: up to %s of one account)", cli.Count(p.accounts, "account"), cli.Count(p.mostRows, "row"))
	if n := p.Columns[i].Nulls; n > 0 {
		t.talk.say("%s without an account: functions refuse such rows; leave them out with WHERE %s IS NOT NULL", cli.Count(n, "row"), sqlite.Name(p.account))
	}
}

// askSwap asks whether latitude and longitude are swapped, if they look so.
func (t *Task) askSwap(ctx context.Context, place *placePlan) error {
	cause := likelyCause(&place.tally)
	if cause != "" {
		t.talk.say("%s", cause)
	}
	swapped := place.tally.Swapped()
	if !t.talk.guesses() || len(swapped.Holding(nearlyAll)) == 0 || cause == "" {
		return nil
	}
	preset := "yes"
	if len(place.tally.Holding(nearlyAll)) > 0 {
		preset = "no" // both are places
	}
	return t.talk.settle(ctx, question{text: "Take " + place.lon + " for the latitude and " + place.lat + " for the longitude? Yes or no", preset: preset,
		help: "yes exchanges the columns. no, the answer in brackets where both ways are places, goes by their names.",
		accept: func(answer string) error {
			swap, err := yes(answer)
			if swap {
				place.lat, place.lon, place.tally = place.lon, place.lat, *swapped
			}
			return err
		}})
}

// offeredBoxes returns the boxes that are offered for the locations: domains that are declared,
// and the smallest public boxes that can be domains.
func (t *Task) offeredBoxes(p *plan) (offered []offeredBox, err error) {
	domains := make([]*planar.Domain, len(t.known.domains))
	for k, b := range t.known.domains {
		if domains[k], err = b.build(); err != nil {
			return nil, err
		}
	}
	outside, err := p.outside(domains...)
	if err != nil {
		return nil, err
	}
	for k, b := range t.known.domains {
		if 1-outside[k] >= nearlyAll && len(offered) < longestOffer {
			offered = append(offered, offeredBox{b, b.name + " (declared)", 1 - outside[k]})
		}
	}
	for _, h := range p.place.tally.Holding(nearlyAll) {
		b := t.publicBox(h.Box)
		if _, err := b.build(); err == nil && len(offered) < longestOffer {
			offered = append(offered, offeredBox{b, h.Name, h.Share})
		}
	}
	return offered, nil
}

// An offeredBox is a box that is offered, with the share of the locations that it holds.
type offeredBox struct {
	declaredBox
	title string
	share float64
}

// publicBox returns a public box as a domain.
func (t *Task) publicBox(b boxes.Box) declaredBox {
	return declaredBox{slug(b.Name), b.South, b.West, b.North, b.East, t.Step}
}

// showBoxes shows the boxes that are offered.
func (t *Task) showBoxes(place *placePlan, offered []offeredBox) {
	t.talk.tell(boxText)
	var rows [][]string
	for i, b := range offered {
		rows = append(rows, []string{strconv.Itoa(i + 1), b.title, b.corners(), "holds " + percent(b.share)})
	}
	t.talk.show(rows, "rlll")
	if len(offered) == 0 && t.Given["box"] == nil && likelyCause(&place.tally) == "" {
		t.talk.say("no country and no large city of the list holds nearly all locations")
	}
}

// firstOf returns the number of the first offer of n, "" if there is none.
func firstOf(n int) string {
	if n == 0 {
		return ""
	}
	return "1"
}

// corners returns the box as a flag takes it.
func (b declaredBox) corners() string { return joined(",", b.south, b.west, b.north, b.east) }

// joined returns numbers with a text between them.
func joined(separator string, numbers ...float64) string {
	words := make([]string, len(numbers))
	for i, x := range numbers {
		words[i] = decimal.Format(x)
	}
	return strings.Join(words, separator)
}

// numbersIn returns the numbers that words are.
func numbersIn(words []string) ([]float64, error) {
	numbers := make([]float64, len(words))
	for i, word := range words {
		x, err := cli.Number(word)
		if err != nil {
			return nil, err
		}
		numbers[i] = x
	}
	return numbers, nil
}

// percent returns a share in per cent. Only 1 is written as all, and only 0 as none.
func percent(share float64) string {
	text := strconv.FormatFloat(100*share, 'f', 1, 64)
	switch {
	case share == 1:
		return "all"
	case share == 0:
		return "none"
	case text == "100.0":
		return "over 99.9 %"
	case text == "0.0":
		return "under 0.1 %"
	}
	return text + " %"
}

// heldText names some of the boxes that are offered.
func heldText(offered []offeredBox) string {
	var names []string
	for _, b := range offered[:min(len(offered), 3)] {
		names = append(names, strings.TrimSuffix(b.title, " (declared)"))
	}
	if len(names) == 0 {
		return ""
	}
	return "; of the public boxes, these hold the locations: " + strings.Join(names, ", ")
}

// likelyCause returns the likely cause of bad locations, or "".
func likelyCause(tally *boxes.Tally) string {
	swapped := tally.Swapped()
	if possible := tally.Possible(); possible < nearlyAll {
		text := percent(1-possible) + " of the locations are impossible"
		if swapped.Possible() > possible {
			return text + " (a latitude is from -90 to 90): latitude and longitude are likely swapped" + otherWayRound(swapped)
		}
		return text + ": the coordinates are likely projected, in metres for example, and have to be degrees of WGS 84"
	}
	as, other := tally.Holding(nearlyAll), swapped.Holding(nearlyAll)
	switch {
	case len(as) == 0 && len(other) > 0:
		return "latitude and longitude are likely swapped" + otherWayRound(swapped)
	case len(as) > 0 && !as[0].City && len(other) > 0 && other[0].City:
		return "latitude and longitude may be swapped: as they are, the locations lie in " + as[0].Name + ", and the other way round in " + other[0].Name
	}
	return ""
}

// otherWayRound says where locations lie once they are swapped.
func otherWayRound(swapped *boxes.Tally) string {
	if held := swapped.Holding(nearlyAll); len(held) > 0 {
		return ": the other way round they lie in " + held[0].Name
	}
	return ""
}

// takeBox takes the box that an answer names, if it holds nearly all locations.
func (t *Task) takeBox(p *plan, offered []offeredBox, answer string) error {
	box, err := t.boxOf(offered, answer)
	if err != nil {
		return err
	}
	domain, err := box.build()
	if err != nil {
		return fmt.Errorf("%s cannot be a domain: %w", answer, err)
	}
	shares, err := p.outside(domain)
	if err != nil {
		return err
	}
	outside := shares[0]
	if outside > t.Outside {
		text := fmt.Sprintf("%s of the locations lie outside %s", percent(outside), answer)
		if swappedInto(p, box) {
			text += "; latitude and longitude are likely swapped: the other way round they lie in it"
		} else if cause := likelyCause(&p.place.tally); cause != "" {
			text += "; " + cause
		}
		return errors.New(text + " (--outside SHARE allows more)")
	}
	if outside > 0 {
		t.talk.say("for the owner only: %s of the locations lie outside %s and will be moved to its edge", percent(outside), box.name)
	}
	p.place.box, p.place.domain = box, domain
	return nil
}

// swappedInto reports whether the locations lie in a box once they are swapped.
func swappedInto(p *plan, b declaredBox) bool {
	box := boxes.Box{South: b.south, West: b.west, North: b.north, East: b.east}
	return p.place.tally.Swapped().Share(box) >= nearlyAll
}

// boxOf returns the box that an answer names: its number, a domain, a place, or its corners.
func (t *Task) boxOf(offered []offeredBox, answer string) (declaredBox, error) {
	if n, err := strconv.Atoi(answer); err == nil && t.Given["box"] == nil {
		if n < 1 || n > len(offered) {
			return declaredBox{}, fmt.Errorf("the list has no number %d", n)
		}
		return t.fresh(offered[n-1].declaredBox), nil
	}
	for _, b := range t.known.domains {
		if b.name == answer {
			return b, nil
		}
	}
	if b, ok := boxes.Find(answer); ok {
		return t.fresh(t.publicBox(b)), nil
	}
	if !strings.Contains(answer, ",") {
		return declaredBox{}, unknownPlace(answer)
	}
	words := strings.Split(answer, ",")
	if len(words) != 4 {
		return declaredBox{}, errors.New("a box has four numbers: SOUTH,WEST,NORTH,EAST, such as 38.5,-9.5,39.0,-8.9")
	}
	v, err := numbersIn(words)
	if err != nil {
		return declaredBox{}, err
	}
	return t.fresh(declaredBox{"area", v[0], v[1], v[2], v[3], t.Step}), nil
}

// unknownPlace returns the error about a place that the list does not have.
func unknownPlace(name string) error {
	var names []string
	for _, b := range boxes.All() {
		names = append(names, b.Name)
	}
	text := "the list has no place " + name
	if near := cli.Nearest(name, names); near != "" {
		text += "; did you mean " + near + "?"
	} else {
		text += ": give SOUTH,WEST,NORTH,EAST, such as 38.5,-9.5,39.0,-8.9"
	}
	return errors.New(text)
}

// fresh returns a box with a name that no other domain has.
func (t *Task) fresh(b declaredBox) declaredBox {
	return renamed(b, t.known.domains, func(b *declaredBox) *string { return &b.name })
}

// renamed returns a declaration, with the first number behind its name at which no other one
// has that.
func renamed[D comparable](d D, known []D, nameOf func(*D) *string) D {
	name := *nameOf(&d)
	for n := 2; slices.ContainsFunc(known, func(k D) bool { return *nameOf(&k) == *nameOf(&d) && k != d }); n++ {
		*nameOf(&d) = name + strconv.Itoa(n)
	}
	return d
}

// outside returns the share of the locations outside the box of each domain.
func (p *plan) outside(domains ...*planar.Domain) ([]float64, error) {
	shares := make([]float64, len(domains))
	if len(domains) == 0 {
		return nil, nil
	}
	err := load.EachRow(p.data, "counting", func(batch *dataset.Rows, i int) error {
		lat, lon, known := p.location(batch, i)
		for k, d := range domains {
			if known && d.Outside(lat, lon) {
				shares[k]++
			}
		}
		return nil
	})
	for k := range shares {
		shares[k] /= float64(p.place.tally.Total())
	}
	return shares, err
}
