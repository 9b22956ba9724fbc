package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/release"
)

// dryRun shows the release without making it. The user asks for this output, so it goes to
// standard output. It shows where true locations lie and is for the owner's eyes.
func (t *Task) dryRun(ctx context.Context) error {
	l, err := openForDryRun(t.Ledger.File)
	if err != nil {
		return err
	}
	line := cli.NewTerminalLine()
	t.Spec.Progress = showProgress(line, "checking")
	f, err := release.DryRun(ctx, t.Spec, l)
	line.Clear()
	var everyone ledger.Balance
	if err == nil {
		everyone, err = l.Balance(ledger.Everyone, f.Unit)
	}
	if err := cmp.Or(err, l.Close()); err != nil {
		return err
	}
	if err := t.printForecast(f, everyone); err != nil {
		return err
	}
	return f.Refused
}

// openForDryRun opens the ledger. One that is missing stays missing: an empty one in memory
// takes its place.
func openForDryRun(where string) (ledger.Ledger, error) {
	l, err := engines.Open(where, false, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	folder := filepath.Dir(where)
	if info, err := os.Stat(folder); !engines.IsURL(where) && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("ledger: cannot open %q: there is no folder %s", where, folder)
	}
	return file.OpenMemory("")
}

// A page collects lines of text. Names and cells in them cannot control the terminal.
type page struct{ text strings.Builder }

func (p *page) say(format string, args ...any) {
	p.text.WriteString(printable.Text(fmt.Sprintf(format, args...)) + "\n")
}

// printForecast prints a forecast on standard output. Everyone is the balance with the limit of
// the accounts that have none of their own.
func (t *Task) printForecast(f *release.Forecast, everyone ledger.Balance) error {
	var p page
	p.say("A dry run: nothing is charged or written. It shows true locations, for the owner only.")
	p.say("")
	p.say("rows       %d, %d of them invalid", f.Rows, f.Invalid)
	if f.Dropped > 0 {
		p.say("left out   %d rows, since their accounts have more than %d", f.Dropped, t.Spec.MaxRows)
	}
	p.say("locations  %d, of %s", f.Locations, cli.Count(f.Accounts, "account"))
	p.say("price      %v/%s for each location, %s/%[2]s in total", f.Epsilon, f.Unit, total(f.Epsilon, f.Locations))
	if f.Complete {
		p.say("budgets    an earlier attempt has charged and drawn everything; the release only names the files")
	} else if f.Repeated {
		p.say("budgets    the release is complete; repeating it charges and draws nothing")
	} else {
		t.budgets(&p, f, everyone)
	}
	p.say("outside    %d of %d locations lie outside the box (%s); up to %s may",
		f.Outside, f.Locations, release.Percent(float64(f.Outside)/float64(max(f.Locations, 1))), release.Percent(f.Allowed))
	p.say("error      half of the locations move less than %.0f m, 95 %% less than %.0f m; %.0f m on average", f.Median, f.Within95, f.Mean)
	for _, g := range f.Gridded {
		p.say("gridded    %v", g)
	}
	for _, x := range f.Earlier {
		p.say("earlier    %s", earlier(x))
	}
	if note := t.parquetNote(); note != "" {
		p.say("output     %s", note)
	}
	for _, w := range f.Pairs {
		p.whereabouts(w)
	}
	p.say("")
	switch {
	case f.Refused != nil:
		p.say("The release would be refused.")
	case f.Repeated:
		p.say("The release would do nothing.")
	default:
		p.say("The release would begin.")
	}
	_, err := os.Stdout.WriteString(p.text.String())
	return err
}

// budgets says who can pay.
func (t *Task) budgets(p *page, f *release.Forecast, everyone ledger.Balance) {
	if f.Already > 0 {
		p.say("           an earlier attempt has charged the first %d of these accounts, which pay nothing now", f.Already)
	}
	s, left := f.Shortage, f.Accounts-f.Already
	if s.Accounts == 0 {
		p.say("budgets    all can pay; one account pays up to %v/%s", f.Most, f.Unit)
		return
	}
	p.say("budgets    %d of %s cannot pay; one account is asked for up to %v/%s", s.Accounts, cli.Count(left, "account"), f.Most, f.Unit)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "asked\tleft\tshort\t  account")
	for _, r := range s.First {
		reopens := ""
		if !r.Reopens.IsZero() {
			reopens = ", with a window that reopens at " + r.Reopens.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%v\t%v\t%v\t  %s%s\n", r.Asked, r.Left, r.Asked-r.Left, printable.SQL(r.Account), reopens)
	}
	w.Flush()
	for line := range strings.Lines(table.String()) {
		p.say("         %s", strings.TrimSuffix(line, "\n"))
	}
	if more := s.Accounts - int64(len(s.First)); more > 0 {
		p.say("           and %d more", more)
	}
	switch window := ""; {
	case s.Limit == 0:
	case !everyone.Limited:
		p.say("           --limit %v would suffice for accounts without a limit of their own.", s.Limit)
	default:
		if everyone.Window > 0 {
			window = fmt.Sprintf(", %d", everyone.Window)
		}
		p.say("           A limit of %v/%s would suffice, for '*' or for accounts with a limit of their own:", s.Limit, f.Unit)
		p.say("             geosql --ledger %s :memory: \"SELECT budget_limit('*', '%s', %v%s)\"", cli.ShellWord(t.Ledger.File), f.Unit, s.Limit, window)
	}
	if s.Epsilon > 0 && f.Already == 0 {
		p.say("           So would --epsilon %v, with more noise.", s.Epsilon)
	}
}

// whereabouts shows where the locations of a pair of columns lie: a map of the box, and
// around it how many lie in each direction.
func (p *page) whereabouts(w release.Whereabouts) {
	p.say("")
	p.say("%s, %s: %d locations", w.Lat, w.Lon, w.Locations)
	if w.Locations == 0 {
		return
	}
	p.say("their middle is %.2f, %.2f, which is %.0f km from the middle of the box", w.Middle[0], w.Middle[1], w.Away/1000)
	if w.OutsideRegion > 0 {
		p.say("%d of those in the box lie outside the region", w.OutsideRegion)
	}
	if w.Cause != "" {
		p.say("%d lie outside the box; %s", w.Locations-w.Sides[release.Inside], w.Cause)
	}
	at := func(d release.Direction) string { return strconv.FormatInt(w.Sides[d], 10) }
	const west, east = release.Inside - 1, release.Inside + 1
	if w.Sides[release.Inside] == 0 {
		w.Map = w.Map[:1] // which is empty
	}
	wide, margin := len(w.Map[0]), 0
	for _, d := range []release.Direction{west, west - 3, west + 3} {
		margin = max(margin, len(at(d)))
	}
	row := func(d release.Direction) { // a row of the frame: the numbers of locations beyond its corners and its side
		p.say("  %*s  %s  %s", margin, at(d-1), centred(at(d), wide), at(d+1))
	}
	row(release.Inside + 3)
	p.say("  %*s +%s+", margin, "", strings.Repeat("-", wide))
	for i, line := range w.Map {
		left, right := "", ""
		if i == len(w.Map)/2 {
			left, right = at(west), " "+at(east)
		}
		p.say("  %*s |%s|%s", margin, left, line, right)
	}
	p.say("  %*s +%s+", margin, "", strings.Repeat("-", wide))
	row(release.Inside - 3)
	p.say("  (%s; around the box: locations outside, by direction)", w.Key)
}

// centred returns a text in the middle of a width.
func centred(text string, width int) string {
	left := max(0, (width-len(text))/2)
	return fmt.Sprintf("%-*s", width, strings.Repeat(" ", left)+text)
}
