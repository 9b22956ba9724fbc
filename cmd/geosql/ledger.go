package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/postgres"
)

var ledgerCommand = &cli.Command{
	Name: "ledger", Operands: "move|accept ..", Min: 1, Max: 3,
	Summary: "move a ledger to a server and back; accept a loss",
	Details: `move FROM TO
    moves a ledger from a file to a PostgreSQL server, or from a server to a file. One of FROM
    and TO is the name of a file, the other a URL such as postgres://host/database
accept URL
    accepts that the server of a ledger has lost charges, as after an older copy was restored.
    A loss that nobody knows of needs --force

A ledger moves with its id, its limits, every charge, and all that it remembers. The copy at TO
is verified and compared with FROM to the last digit before anybody can charge it. FROM stays, for
reading: it cannot be charged any more, and says where the ledger went. Stop all programs that
charge it first: their reservations stay. Nobody can charge it meanwhile: a line at the end says how long. After an interruption give the same
command again. Then name the ledger with --ledger TO wherever FROM was used.

A file has one chain of entries, and a server one for each process that wrote to it. From a file the
chain goes over as it is. To a file the chains are merged in the order in which they were
written, and entries at the end, of function ledger_move, hold the head of each.

  geosql ledger move city.db-ledger postgres://ledger.example/budgets
  geosql --ledger postgres://ledger.example/budgets city.db "SELECT .."`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var a acceptance
		cli.Switch(fs, "yes", "do not ask before a loss is accepted", func() { a.yes = true })
		cli.Switch(fs, "force", "accept a loss that neither this machine nor the ledger knows of", func() { a.force = true })
		cli.Switch(fs, "dry-run", "say what is known of a loss, and accept nothing", func() { a.dryRun = true })
		return func(ctx context.Context, operands []string) error { return runLedger(ctx, operands, a) }
	},
}

// runLedger runs an action of the command ledger.
func runLedger(ctx context.Context, operands []string, a acceptance) error {
	switch action, rest := operands[0], operands[1:]; {
	case action == "move" && len(rest) == 2:
		return moveLedger(ctx, rest[0], rest[1])
	case action == "move":
		return cli.UsageError("ledger move: give FROM and TO: a file and the URL of a server, or the other way round")
	case action == "accept" && len(rest) == 1:
		return a.loss(ctx, rest[0])
	case action == "accept":
		return cli.UsageError("ledger accept: give the URL of the ledger's server")
	default:
		return cli.UsageError("ledger: the action is move or accept, not " + action)
	}
}

// moveLedger moves a ledger.
func moveLedger(ctx context.Context, from, to string) error {
	for _, where := range []string{from, to} {
		if err := engines.Check(where); err != nil {
			return cli.UsageError("ledger move: " + err.Error())
		}
	}
	line, begun := cli.NewTerminalLine(), time.Now()
	moved, err := engines.Move(ctx, from, to, 0, line.Steps())
	line.Clear()
	if err != nil {
		return fmt.Errorf("ledger move: %w", err)
	}
	if moved.Before {
		cli.Say("%s was moved to %s before; nothing was changed", engines.Label(from), engines.Label(to))
		return nil
	}
	cli.Say("moved ledger %s from %s to %s; entries: %d, balances: %d, limits: %d", moved.ID, engines.Label(from), engines.Label(to),
		moved.Entries, moved.Balances, moved.Limits)
	cli.Say("%s in the file; %s; nobody could charge it for %.1f s of them", cli.Size(from, to), cli.Pace(moved.Entries, "entries", time.Since(begun)), moved.Closed.Seconds())
	cli.Say("%s cannot be charged any more: name the ledger with --ledger %s", engines.Label(from), cli.ShellWord(engines.Label(to)))
	return nil
}

// acceptance is how a loss is accepted.
type acceptance struct {
	yes    bool // without a question
	force  bool // also where nobody knows of a loss
	dryRun bool
}

// loss accepts that a server has lost charges.
func (a acceptance) loss(ctx context.Context, url string) error {
	if err := engines.Check(url); err != nil {
		return cli.UsageError("ledger accept: " + err.Error())
	}
	if !engines.IsURL(url) {
		return cli.UsageError("ledger accept: give the URL of a server; a ledger in a file that was restored: geosql restore -h")
	}
	loss, err := engines.FindLoss(url)
	switch {
	case err != nil:
		return fmt.Errorf("ledger accept: %w", err)
	case a.dryRun:
		sayLoss(engines.Label(url), loss)
		cli.Say("nothing was changed; accepting begins a new generation of the ledger, after %d", loss.Generation)
		return nil
	case !loss.Known() && !a.force:
		return fmt.Errorf("ledger accept: %s has every charge that this machine knows of, and no process has noted a loss: nothing was changed. "+
			"If you know better, --force; it stops every process that charges the ledger now", engines.Label(url))
	}
	if err := a.ask(ctx, url, loss); err != nil {
		return err
	}
	if loss, err = engines.Accept(url, a.force); err != nil {
		return fmt.Errorf("ledger accept: %w", err)
	}
	cli.Say("accepted: the ledger is in generation %d, and forgot %s; programs that have it open have to open it again, and servers do so by themselves",
		loss.Generation, unfinished(loss))
	return nil
}

// ask describes the loss and asks the user to agree.
func (a acceptance) ask(ctx context.Context, url string, loss *postgres.Loss) error {
	if a.yes {
		return nil
	}
	if !cli.Interactive() {
		return cli.UsageError("ledger accept: it asks before it changes anything, and there is no terminal to ask on: give --yes")
	}
	sayLoss(engines.Label(url), loss)
	cli.Say("The charges that the server has lost can be spent a second time: all since the copy that it was restored from.")
	cli.Say("If you do not want that, restore a newer copy, or set lower limits afterwards.")
	return cli.AskYes(ctx, "Accept the loss? Type yes: ", "ledger accept: nothing was changed")
}

// sayLoss describes a loss.
func sayLoss(label string, loss *postgres.Loss) {
	if loss.Here {
		cli.Say("%s lacks charges that this machine knows it has stored", label)
	}
	if !loss.Found.IsZero() {
		cli.Say("a process noted at %s that %s lacks charges; nobody can charge it since", loss.Found.Format(time.RFC3339), label)
	}
	if !loss.Known() {
		cli.Say("%s has every charge that this machine knows of, and no process has noted a loss", label)
	}
	cli.Say("accepting forgets %s", unfinished(loss))
}

// unfinished names the releases that are forgotten with a loss.
func unfinished(loss *postgres.Loss) string {
	if len(loss.Unfinished) == 0 {
		return "no release, as all are finished"
	}
	names := make([]string, len(loss.Unfinished))
	for i, id := range loss.Unfinished {
		names[i] = printable.Text(id)
	}
	return cli.Count(int64(len(names)), "unfinished release") + ", whose charges stay: " + strings.Join(names, ", ")
}
