// Package servetest has the clients of tests of the server, of PostgreSQL's protocol and of HTTP.
package servetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Client connects as the role ana, with the password sesame, to a server of the database out.
type Client struct {
	*testing.T
	Address string // of the server
}

// Connect connects, with more parameters of a connection string.
func (c *Client) Connect(more string) (*pgx.Conn, error) {
	host, port, _ := net.SplitHostPort(c.Address)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s dbname=out user=ana password=sesame %s", host, port, more))
	if err != nil {
		return nil, err
	}
	// also of localhost, which not every machine knows
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{host}, nil }
	return pgx.ConnectConfig(ctx, config)
}

// MustConnect is Connect, and ends the test at an error and the connection with the test.
func (c *Client) MustConnect(more string) *pgx.Conn {
	c.Helper()
	conn, err := c.Connect(more)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// SQLState returns the SQLSTATE of an error of a server, or the text of another error.
func SQLState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

// Fetch gets a page. The header is names and values in turn. The status is 0 if there is no answer.
func Fetch(t *testing.T, client *http.Client, url string, header ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(body))
}
