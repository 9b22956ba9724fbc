package wire

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

var sync_ = &pgproto3.Sync{}

func parse(name, sql string) *pgproto3.Parse { return &pgproto3.Parse{Name: name, Query: sql} }

func bind(portal, statement string) *pgproto3.Bind {
	return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement}
}

func bindFormats(portal, statement string, formats ...int16) *pgproto3.Bind {
	return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement, ResultFormatCodes: formats}
}

func describePortal(name string) *pgproto3.Describe {
	return &pgproto3.Describe{ObjectType: 'P', Name: name}
}

func executePortal(name string, rows uint32) *pgproto3.Execute {
	return &pgproto3.Execute{Portal: name, MaxRows: rows}
}

func closeStatement(name string) *pgproto3.Close {
	return &pgproto3.Close{ObjectType: 'S', Name: name}
}

func query(sql string) *pgproto3.Query { return &pgproto3.Query{String: sql} }

func post(c *pgconn.PgConn, messages ...any) {
	for _, m := range messages {
		c.Frontend().Send(m.(pgproto3.FrontendMessage))
	}
}

// talk sends the posted messages, and returns the server's answers up to ReadyForQuery: names of messages, the
// tags of commands, and the codes of errors.
func talk(t *testing.T, c *pgconn.PgConn) string {
	t.Helper()
	if err := c.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(background(t), func() { c.Conn().Close() })
	defer stop()
	var names []string
	for {
		m, err := c.Frontend().Receive()
		if err != nil {
			t.Fatalf("after %v: %v", names, err)
		}
		names = append(names, name(m))
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			return strings.Join(names, " ")
		}
	}
}

// lastWordsTo sends bytes, and returns the server's answers up to the end of the connection, as talk does. It reads them through
// the frontend: after a slow login a goroutine of pgx may still be reading from the connection itself.
func lastWordsTo(t *testing.T, c *pgconn.PgConn, bytes string) string {
	t.Helper()
	c.Conn().SetDeadline(time.Now().Add(patience))
	c.Conn().Write([]byte(bytes))
	var names []string
	for {
		m, err := c.Frontend().Receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatalf("the server keeps the connection, and said %v", names)
		case err != nil:
			return strings.Join(names, " ")
		}
		names = append(names, name(m))
	}
}

func name(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case nil:
		return "nothing"
	case *pgproto3.ErrorResponse:
		return m.Code
	case *pgproto3.CommandComplete:
		return "CommandComplete:" + string(m.CommandTag)
	default:
		return reflect.TypeOf(m).Elem().Name()
	}
}

// A numeric in binary is the same number.
func TestAppendNumeric(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "10", "9999", "10000", "-10000", "100000000", "12345678901234567890", "0.5", "-0.05", "0.00001", "12.50",
		"10000.0001", "123456.7890123", "0.00", "1" + strings.Repeat("0", 300), "0." + strings.Repeat("0", 300) + "1"} {
		b, ok := appendNumeric(nil, text)
		got, err := readNumeric(b)
		if !ok || err != nil || got != text {
			t.Errorf("%s becomes %v %v %v", text, got, ok, err)
		}
	}
	for text, want := range map[string]string{"NaN": "NaN", "+Inf": "Infinity", "-Inf": "-Infinity", "-0": "0", "007": "7", ".5": "0.5"} {
		b, _ := appendNumeric(nil, text)
		if got, err := readNumeric(b); err != nil || got != want {
			t.Errorf("%s becomes %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "x", "1e5", "1.2.3", "--1"} {
		if _, ok := appendNumeric(nil, text); ok {
			t.Errorf("%q is a number", text)
		}
	}
}
