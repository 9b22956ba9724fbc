package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/mechanism/planar"
)

// An element is a part of a parsed page.
type element struct {
	name       string
	attributes map[string]string
	text       string // of it and all below
	below      []*element
}

// all returns the elements of the names, in the order of the page.
func (e *element) all(names ...string) (found []*element) {
	for _, child := range e.below {
		if slices.Contains(names, child.name) {
			found = append(found, child)
		}
		found = append(found, child.all(names...)...)
	}
	return found
}

// parse parses a page strictly: pages are HTML that is well-formed XML too.
func parse(page string) (*element, error) {
	decoder := xml.NewDecoder(strings.NewReader(page))
	open := []*element{{name: "document"}}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return open[0], nil
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			child := &element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				child.attributes[a.Name.Local] = a.Value
			}
			top.below = append(top.below, child)
			open = append(open, child)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(token)
			}
		}
	}
}

// faults returns the faults in the structure of a page.
func faults(page string) error {
	document, err := parse(page)
	if err != nil {
		return err
	}
	var all []error
	fault := func(what string) { all = append(all, errors.New(what)) }
	if html := document.all("html"); len(html) != 1 || html[0].attributes["lang"] != "en" {
		fault("no language")
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		fault("no content security policy")
	}
	ids := map[string]bool{}
	for _, e := range append(document.all("svg", "title", "desc", "aside", "h2"), document.all("main")...) {
		if id := e.attributes["id"]; id != "" && ids[id] {
			fault("id " + id + " twice")
		} else {
			ids[id] = true
		}
	}
	for _, e := range document.all("svg", "aside", "a") {
		for _, id := range strings.Fields(e.attributes["aria-labelledby"] + " " + strings.TrimPrefix(e.attributes["href"], "#")) {
			if !ids[id] {
				fault("nothing has id " + id)
			}
		}
	}
	for _, svg := range document.all("svg") {
		if svg.attributes["role"] != "img" || len(svg.all("title")) != 1 || len(svg.all("desc")) != 1 {
			fault("a picture without a description")
		}
	}
	for _, table := range document.all("table") {
		if len(table.all("caption")) != 1 {
			fault("a table without a caption")
		}
		for _, th := range table.all("th") {
			if th.attributes["scope"] == "" {
				fault("a head without a scope")
			}
		}
	}
	level := 0
	for _, h := range document.all("h1", "h2", "h3", "h4") {
		next := int(h.name[1] - '0')
		if next > level+1 || next == 1 && level > 0 {
			fault("heading out of order: " + h.text)
		}
		level = next
	}
	all = append(all, loads(document))
	return errors.Join(all...)
}

// loads returns the parts of a page that run or come from elsewhere.
func loads(e *element) error {
	if slices.Contains([]string{"script", "iframe", "img", "image", "link", "object", "embed", "use", "form", "base"}, e.name) {
		return errors.New("an element " + e.name)
	}
	for name, value := range e.attributes {
		if strings.HasPrefix(name, "on") || name == "src" || name == "style" || name == "href" && value != "#owner" {
			return errors.New("an attribute " + name + "=" + value)
		}
	}
	if e.name == "style" && (strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import")) {
		return errors.New("a style that loads")
	}
	for _, child := range e.below {
		if err := loads(child); err != nil {
			return err
		}
	}
	return nil
}

func TestStructure(t *testing.T) {
	data := released(t, 2000)
	whole := written(t, data)
	data.Owner = nil
	publishable := written(t, data)
	for name, page := range map[string]string{"whole": whole, "publishable": publishable} {
		if err := faults(page); err != nil {
			t.Errorf("%s page: %v", name, err)
		}
	}
	for _, text := range []string{"at most <strong>4.04 times</strong>", "80.2\u00a0%", "16.4 instead of 4.04", "289\u00a0m", "home_lat", "2,000 drawn locations", "2026-03-01 12:30:00"} {
		if !strings.Contains(publishable, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

// The function faults finds faults.
func TestFaultsAreFound(t *testing.T) {
	page := written(t, released(t, 100))
	for old, wrong := range map[string]string{
		`lang="en"`:           `lang="xx"`,
		`default-src 'none'`:  `default-src *`,
		"<caption>":           "<caption></caption><caption>",
		`id="moved-0-title"`:  `id="moved-1-title"`,
		`scope="row"`:         "",
		"<h2>What it cost":    "<h2></h2><h4></h4><h2>What it cost",
		"</main>":             "<script>1</script></main>",
		"<h1>":                `<h1 onclick="1">`,
		`href="#owner"`:       `href="https://example.org/"`,
		"</style>":            "a { background: url(x) }</style>",
		"</figcaption>":       "",
		"<p>Take two people":  `<p><img alt="" src="x" />Take two people`,
		`role="img"`:          "",
		"</h1>":               "</h1>&nbsp;",
		"<h3>Columns":         "<h1></h1><h3>Columns",
		`<aside id="owner"`:   `<aside`,
		"<summary>The number": `<iframe></iframe><summary>The number`,
	} {
		if !strings.Contains(page, old) {
			t.Errorf("the page has no %q", old)
		}
		if faults(strings.Replace(page, old, wrong, 1)) == nil {
			t.Errorf("%q in place of %q is not found", wrong, old)
		}
	}
}

// main returns the part of a page for everybody.
func mainPart(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "<main>")
	part, _, closed := strings.Cut(rest, "</main>")
	if !found || !closed {
		t.Fatal("no part for everybody")
	}
	return part
}

// another returns the same release as made from other raw data.
func another(data Data) Data {
	owner := Owner{
		Input: "elsewhere.csv", Digest: "00", ID: "r-00", Ledger: "other", Account: "const:office",
		Accounts: 1, Rejected: 99,
	}
	for _, l := range data.Public.Locations {
		o := OwnerLocation{Raw: NewGrid(washington), Outside: 5, Moved: NewMoves(planar.LaplaceLaw.Plane(washingtonEpsilon))}
		for range l.Released.Total() {
			o.Raw.Add(38.8, -77)
			o.Moved.Add(1e5)
		}
		owner.Locations = append(owner.Locations, o)
	}
	data.Owner = &owner
	return data
}

// reveals reports whether the part for everybody depends on facts that only the owner may
// know, as a way of writing pages writes it.
func reveals(t *testing.T, data Data, write func(Data) string) bool {
	publishable := data
	publishable.Owner = nil
	part := mainPart(t, write(publishable))
	return part != mainPart(t, write(data)) || part != mainPart(t, write(another(data)))
}

// A publishable page, and the part for everybody of a whole one, are made from the
// release alone.
func TestNothingRawIsPublic(t *testing.T) {
	data := released(t, 2000)
	write := func(d Data) string { return written(t, d) }
	if reveals(t, data, write) {
		t.Error("the part for everybody depends on raw data")
	}
	for name, leak := range map[string]func(p *Public, o Owner){
		"the digest": func(p *Public, o Owner) { p.SHA256 = o.Digest },
		"rejected":   func(p *Public, o Owner) { p.Rows += o.Rejected },
		"the raw map": func(p *Public, o Owner) {
			p.Locations = slices.Clone(p.Locations)
			p.Locations[1].Released = o.Locations[1].Raw
		},
		"the error": func(p *Public, o Owner) { p.MeanError = o.Locations[0].Moved.sum / 2000 },
	} {
		leaky := func(d Data) string {
			if d.Owner != nil {
				leak(&d.Public, *d.Owner)
			}
			return written(t, d)
		}
		if !reveals(t, data, leaky) {
			t.Errorf("a page that gives away %s passes", name)
		}
	}
}

// Nothing of the owner's part stands in a publishable page.
func TestPublishablePageNamesNothingOfTheOwner(t *testing.T) {
	data := released(t, 500)
	owner := *data.Owner
	data.Owner = nil
	page := written(t, data)
	if whole := written(t, Data{data.Public, &owner}); HasOwner([]byte(page)) || !HasOwner([]byte(whole)) {
		t.Error("the pages are not told apart")
	}
	for _, text := range []string{owner.Input, owner.Digest, owner.ID, owner.Ledger, owner.Rejects, "owner only", "aside", "Before:", "measured"} {
		if strings.Contains(strings.Split(page, "</style>")[1], text) {
			t.Errorf("a publishable page has %q", text)
		}
	}
}

// The classes of colours of the owner's maps are common, those of the public map its own.
func TestColours(t *testing.T) {
	for highest, want := range map[int64][classes]int64{
		0: {1, 2, 4, 8, 16}, 31: {1, 2, 4, 8, 16}, 32: {1, 3, 9, 27, 81}, 243: {1, 5, 25, 125, 625}, 100_000: {1, 20, 400, 8000, 160_000},
	} {
		if starts := colours(highest); starts != want {
			t.Errorf("a largest count of %d has colours from %v", highest, starts)
		}
	}
	starts := colours(31)
	for n, class := range map[int64]int{0: -1, 1: 0, 2: 1, 3: 1, 4: 2, 15: 3, 16: 4, 1 << 60: 4} {
		if c := colour(n, starts); c != class {
			t.Errorf("a count of %d has colour %d", n, c)
		}
	}
}

// The page names the program that made it, and says "two people", or "two places" if all
// locations were charged to one account.
func TestWording(t *testing.T) {
	data := released(t, 20)
	for one, want := range map[bool]string{false: "Take two people 200\u00a0m apart", true: "Take two places 200\u00a0m apart"} {
		data.Public.OneAccount = one
		page := written(t, data)
		for _, text := range []string{want, "by geosql " + version.Version + "."} {
			if !strings.Contains(page, text) {
				t.Errorf("one account is %v: the page does not say %q", one, text)
			}
		}
		if strings.Contains(page, "home ") || strings.Contains(page, "homes") || one && strings.Contains(page, "two people") {
			t.Errorf("one account is %v: the page speaks of others", one)
		}
	}
}

// A map is as wide as its labels let it be, and at most a third higher than wide.
func TestMapsAreWide(t *testing.T) {
	for _, c := range []struct {
		box         Box
		width, rise float64 // least width, greatest height
	}{
		{washington, 370, 500},
		{Box{South: 48.7, West: 2.2, North: 49, East: 2.3}, 100, 520},
		{Box{South: 48.85, West: 2, North: 48.86, East: 3}, 370, 140},
	} {
		g := NewGrid(c.box)
		m := newMap("x", "y", g, colours(1))
		if m.Width < c.width || m.Rise > c.rise || m.Left+m.Width > mapWide-10 || math.Abs(m.Width/m.Rise-g.aspect()) > 0.05*g.aspect() {
			t.Errorf("%v: %v by %v from %v, of shape %v", c.box, m.Width, m.Rise, m.Left, g.aspect())
		}
	}
}
