package owner

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve"
)

// Roles holds the flags of the command role.
type Roles struct {
	output   session.Flags
	role     serve.Role
	password string
	given    bool // whether any flag about a role is given
}

// Register defines the flags of the command.
func (t *Roles) Register(fs *flag.FlagSet) {
	t.output.Register(fs)
	set := func(name, usage string, parse func(v string) error) {
		fs.Func(name, "with add: "+usage, func(v string) error {
			t.given = true
			return parse(v)
		})
	}
	set("password-file", "the password is the first line of `FILE`", func(v string) (err error) {
		t.password, err = cli.FileName(v)
		return err
	})
	set("columns", "the sealed columns that it may ask about, `T.C,..`", func(v string) (err error) {
		t.role.Columns, err = catalog.ParseColumnNames(v)
		return err
	})
	amounts := func(to *map[budget.Unit]budget.Amount) func(v string) error {
		return func(v string) error {
			unit, amount, err := parseAmount(v)
			if err != nil {
				return err
			}
			if *to == nil {
				*to = map[budget.Unit]budget.Amount{}
			}
			(*to)[unit] = amount
			return nil
		}
	}
	cli.ListVar(fs, new([]struct{}), t.counted(amounts(&t.role.Epsilon)), "epsilon", "with add: spend at most `UNIT=E` of each account in all, such as kWh=1; may be given again")
	cli.ListVar(fs, new([]struct{}), t.counted(amounts(&t.role.EpsilonMax)), "epsilon-max", "with add: one call costs an account at most `UNIT=E`, all of its rows together; may be given again")
	cli.ListVar(fs, new([]struct{}), t.counted(amounts(&t.role.EpsilonMin)), "epsilon-min", fmt.Sprintf("with add: an answer costs an account at least `UNIT=E` for each row (default %v); may be given again", serve.DefaultEpsilonMin))
	set("answers", fmt.Sprintf("keep at most `N` new answers a day (default %d)", serve.DefaultAnswers), cli.WholeTo(&t.role.Answers))
	set("answer-bytes", fmt.Sprintf("keep new answers of at most `BYTES` a day (default %d)", serve.DefaultAnswerBytes), cli.WholeTo(&t.role.AnswerBytes))
	set("max-repeat", "let a group have a sealed value up to `N` times (default 1)", func(v string) (err error) {
		t.role.MaxRepeat, err = vault.ParseRepeats(v)
		return err
	})
	set("timeout", "stop a statement after `SECONDS` (default 30)", func(v string) error {
		x, err := cli.Number(v)
		if err == nil && !(x > 0 && x <= 1e6) {
			err = errors.New("it must be above 0 and at most 1000000")
		}
		t.role.Timeout = time.Duration(x * float64(time.Second))
		return err
	})
	set("rows", "answer at most `N` rows", cli.WholeTo(&t.role.Rows))
	set("memory", "give a session's process, and the server's data for it, at most `BYTES` of memory each", cli.WholeTo(&t.role.Memory))
	set("exhausted", "`refuse|leave_out` an account that cannot pay (default refuse)", func(v string) error {
		switch v {
		case "refuse", "leave_out":
			t.role.LeaveOut = v == "leave_out"
			return nil
		}
		return errors.New("it must be refuse or leave_out")
	})
}

// counted returns a parser of a flag that may be given again.
func (t *Roles) counted(parse func(v string) error) func(v string) (struct{}, error) {
	return func(v string) (struct{}, error) {
		t.given = true
		return struct{}{}, parse(v)
	}
}

// parseAmount reads UNIT=E.
func parseAmount(v string) (budget.Unit, budget.Amount, error) {
	i := strings.LastIndexByte(v, '=')
	if i <= 0 {
		return "", 0, errors.New("it must be like kWh=1")
	}
	x, err := cli.Number(v[i+1:])
	if err == nil && !(x > 0) {
		err = errors.New("it must be above 0")
	}
	if err != nil {
		return "", 0, err
	}
	amount, err := budget.Limit(budget.Decimal(x))
	return budget.Unit(v[:i]), amount, err
}

// roleActions are the actions of the command.
var roleActions = map[string]session.Action[func(t *Roles, ctx context.Context, path, name string) error]{
	"add":  {Named: true, Run: (*Roles).add},
	"drop": {Named: true, Run: (*Roles).drop},
	"list": {Run: (*Roles).list},
}

// Run executes an action.
func (t *Roles) Run(ctx context.Context, operands []string) error {
	run, name, err := session.Choose("role", operands, roleActions)
	path := operands[0]
	switch {
	case err != nil:
		return err
	case operands[1] != "add" && t.given:
		return cli.UsageError("role: only add takes flags about a role")
	}
	err = cmp.Or(store.CheckName(path), t.output.Ledger.Check())
	if err == nil && t.output.Ledger.Mode != 0 {
		err = setLedgerMode(path, t.output.Ledger)
	}
	if err != nil {
		return err
	}
	err = run(t, ctx, path, name)
	if usage := cli.UsageError(""); err != nil && !errors.As(err, &usage) {
		err = fmt.Errorf("role: %w", err)
	}
	return err
}

// setLedgerMode gives a ledger the mode of its flag.
func setLedgerMode(path string, f store.LedgerFlags) error {
	b, err := store.Find(path, f)
	if err != nil {
		return err
	}
	l, err := b.Open()
	if l == nil || err != nil {
		return err
	}
	return l.Close()
}

// add adds a role.
func (t *Roles) add(_ context.Context, path, name string) error {
	if t.password == "" {
		return cli.UsageError("role: give the password with --password-file FILE")
	}
	password, err := vault.FirstLine(t.password)
	if err != nil {
		return err
	}
	t.role.Name = name
	if err := serve.AddRole(path, t.output.Ledger.File, t.role, string(password)); err != nil {
		return err
	}
	cli.Say("%s may ask about %s of %s", name, columnTexts(t.role, ", "), path)
	return nil
}

// drop drops a role.
func (t *Roles) drop(_ context.Context, path, name string) error {
	err := serve.DropRole(path, t.output.Ledger.File, name)
	if err == nil {
		cli.Say("%s cannot ask %s any more", name, path)
	}
	return err
}

// list prints the roles.
func (t *Roles) list(ctx context.Context, path, _ string) error {
	roles, err := serve.Roles(path, t.output.Ledger.File)
	if err != nil {
		return err
	}
	type row struct {
		Name        string  `json:"name"`
		Columns     string  `json:"columns"`
		Epsilon     string  `json:"epsilon"`
		EpsilonMax  *string `json:"epsilon_max"`
		MaxRepeat   int     `json:"max_repeat"`
		Timeout     float64 `json:"timeout_s"`
		Rows        *int64  `json:"rows"`
		Memory      *int64  `json:"memory"`
		EpsilonMin  *string `json:"epsilon_min"`
		Answers     *int64  `json:"answers"`
		AnswerBytes *int64  `json:"answer_bytes"`
		Exhausted   string  `json:"exhausted"`
		Added       string  `json:"added"`
	}
	rows := []row{}
	for _, r := range roles {
		row := row{
			Name: r.Name, Columns: columnTexts(r, ","), Epsilon: showAmounts(r.Epsilon), EpsilonMax: nonZero(showAmounts(r.EpsilonMax)),
			MaxRepeat: r.MaxRepeat, Timeout: r.Timeout.Seconds(), Rows: nonZero(r.Rows), Memory: nonZero(r.Memory),
			EpsilonMin: nonZero(showAmounts(r.EpsilonMin)), Answers: nonZero(r.Answers), AnswerBytes: nonZero(r.AnswerBytes),
			Exhausted: "refuse", Added: r.Added.Format(time.RFC3339),
		}
		if r.LeaveOut {
			row.Exhausted = "leave_out"
		}
		rows = append(rows, row)
	}
	return session.PrintRows(ctx, t.output.Mode, rows)
}

// columnTexts returns the columns of a role as flags take them.
func columnTexts(r serve.Role, separator string) string {
	var all []string
	for _, c := range r.Columns {
		all = append(all, c.String())
	}
	return strings.Join(all, separator)
}

// showAmounts shows amounts as flags take them.
func showAmounts(amounts map[budget.Unit]budget.Amount) string {
	var all []string
	for _, unit := range slices.SortedFunc(maps.Keys(amounts), cmp.Compare) {
		all = append(all, fmt.Sprintf("%s=%s", unit, amounts[unit]))
	}
	return strings.Join(all, ",")
}

// nonZero returns a pointer to a value, nil for the zero one.
func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
