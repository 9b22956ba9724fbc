// Command release-beam publishes a copy of a data set with noise on all locations, as geosql release
// does, in shards on Apache Beam.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/release/beam"
)

const programName = "release-beam"

const help = `release-beam: publish a copy of a data set with noise on all locations, on Apache Beam

release-beam [--runner NAME] --spec FILE
    release the data set that the spec file names, in shards that workers draw

The release is that of geosql release --shards: every account is charged once, before anything
is drawn, and one draw of each shard is published. After an interruption or an error the same
command goes on, and charges nothing twice. Repeating a complete release charges nothing.

  --spec FILE             release the columns named in FILE, which every worker reads:
                          a path that all workers see, gs://.. or s3://..
  --runner NAME           run the job on prism or direct (this process), flink, spark or
                          dataflow (default prism)
  --endpoint HOST:PORT    submit the job to this job server, of Flink or Spark
  --environment_type T    let the runner start workers as DOCKER, PROCESS or EXTERNAL
  --environment_config C  the image of the container, or the command of the process
  --worker_binary FILE    release-beam as built for the workers (default: this program)
  --parallelism N         let N workers work at a time
  --async                 do not wait until the job is done
  --beam-flags            list all flags of Beam, such as those of Dataflow

The spec file is a JSON object. Its settings have the names of the flags of geosql release:

  {
    "in": "gs://office/trips.csv",
    "out": "gs://office/public/trips.csv",
    "ledger": "postgres://release@db.office/geosql?sslmode=verify-full",
    "shards": 64,
    "account": "person",
    "lat": ["start_lat", "end_lat"],
    "lon": ["start_lon", "end_lon"],
    "keep": ["purpose"],
    "epsilon": 0.005,
    "domain": [48.80, 2.22, 48.91, 2.48, 1]
  }

%s
Every worker must reach the ledger. Its password is in the file that PGPASSFILE names on the
machine of the worker, never in the URL. The job holds the path of the spec file and the
numbers of the shards, and nothing else.

The exit status is 0, or 1 after an error, 2 for wrong flags, and 130 after Ctrl-C.
`

func main() {
	signal.Ignore(syscall.SIGPIPE) // the ledger is closed before a write to a closed pipe ends the process
	err := run(os.Args[1:])
	cli.Report(programName, err)
	os.Exit(cli.Status(err))
}

func run(args []string) error {
	flags := flag.CommandLine // Beam's own are there
	flags.Init(programName, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	spec := flags.String("spec", "", "read the columns to release from `FILE`")
	all := flags.Bool("beam-flags", false, "list all flags of Beam")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil && flags.NArg() == 1 && flags.Arg(0) == "help":
		_, err := fmt.Printf(help, settingsHelp())
		return err
	case err != nil:
		return cli.UsageError(err.Error())
	case flags.Lookup("worker").Value.String() == "true":
		serve()
	case *all:
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return nil
	case flags.NArg() > 0:
		return cli.UsageError("there is no argument " + flags.Arg(0) + ", only flags")
	}
	runner := *runners.Runner
	if runner == "" {
		runner = "prism"
	}
	sdk.Init()
	ctx, _ := cli.StopOn(context.Background(), signals()...)
	result, err := beam.Run(ctx, runner, *spec)
	if err != nil {
		return err
	}
	report(result)
	return nil
}

// signals returns the signals that end the run. SIGHUP is not among them if nohup ignores it.
func signals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// serve makes this process a worker until a signal ends it.
func serve() {
	ctx, _ := cli.StopOn(context.Background(), signals()...)
	beam.Serve(ctx, func() { os.Exit(cli.Status(context.Cause(ctx))) })
}

// report reports the job on standard error.
func report(r *beam.Result) {
	s := r.Summary
	if s == nil || !s.Complete {
		cli.Say("submitted or done: the job that releases %s in %d shards; its last file is %s.manifest.json", r.Out, r.Shards, r.Out)
		return
	}
	if s.Repeated && r.Published == 0 {
		cli.Say("release %s has been complete since %s; nothing was charged or drawn", s.ID, s.Finished.Format(time.RFC3339))
	}
	if s.Shards == 0 { // the ledger knows no more of it
		return
	}
	cli.Say("released %s in %d shards: %d rows in the order of the input, which is public", r.Out, r.Shards, s.Rows)
	cli.Say("charged: %v/%s for each of %d locations, to %d accounts (release %s)", s.Epsilon, s.Unit, s.Locations, s.Accounts, s.ID)
	cli.Say("expected error: %.0f m on average, at most %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Dropped > 0 {
		cli.Say("left out: %d rows of accounts that have more than max-rows-per-account", s.Dropped)
	}
	for _, g := range s.Gridded {
		cli.Say("for the owner only: %v", g)
	}
	if s.Gone != nil {
		cli.Say("the manifest is not in its place any more: somebody has moved or removed it")
	}
	cli.Say("this job drew %d of the %d shards", r.Published, r.Shards)
	cli.Say("report: %s", s.Report)
	cli.Say("manifest: %s", s.Manifest)
}

// settingsHelp lists the settings of a spec file.
func settingsHelp() string {
	var lines []string
	line := "All settings:"
	for i, name := range beam.Settings() {
		if i > 0 {
			line += ","
		}
		if len(line)+len(name) > 85 {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + name)
	}
	return strings.Join(append(lines, line+"."), "\n") + "\n"
}
