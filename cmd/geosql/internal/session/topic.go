package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

// Topic returns the text of geosql_help about an SQL function. For another word it lists the functions that have it in their
// help, which help tells more on.
func Topic(conn *sqlite.Conn, word, help string) (string, error) {
	text, err := helpText(conn, "SELECT geosql_help(?1)", word)
	if err == nil {
		return text, nil
	}
	names, err := helpText(conn, "SELECT geosql_help()")
	if err != nil {
		return "", err
	}
	functions := strings.Fields(names)
	if near := cli.DidYouMean(word, functions); near != "" {
		return "", errors.New("there is no command or function " + word + near)
	}
	var topics []topic
	for _, name := range functions {
		text, err := helpText(conn, "SELECT geosql_help(?1)", name)
		if err != nil {
			return "", err
		}
		topics = append(topics, functionTopic(name, text))
	}
	return listTopics(topics, word, help)
}

// helpText returns the text that a statement selects.
func helpText(conn *sqlite.Conn, sql string, parameters ...string) (string, error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	for i, p := range parameters {
		stmt.BindText(i+1, p)
	}
	if _, err := stmt.Step(); err != nil {
		return "", err
	}
	column := stmt.Column(0)
	return column.Text(), nil
}

// A topic is a function with its help.
type topic struct {
	name    string
	summary string // a sentence
	text    string // all of the help
}

// functionTopic reads the help of a function, which is its signature, a description, and its arguments from "Form:" on.
func functionTopic(name, help string) topic {
	_, text, _ := strings.Cut(help, "\n")
	summary, _, _ := strings.Cut(text, "Form:")
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(summary), " "), ". ")
	return topic{name, sentence, text}
}

// rank returns how near a topic is to a word in lower case: 0 if the word is in its name, 1 in its summary, 2 in its text, 3 if not at all.
func (t topic) rank(word string) int {
	return slices.IndexFunc([]string{t.name, t.summary, t.text, word}, func(s string) bool { return strings.Contains(strings.ToLower(s), word) })
}

// mostTopics is how many topics a search lists: half a screen.
const mostTopics = 12

// listTopics lists the topics with a word, the nearest first.
func listTopics(topics []topic, word, help string) (string, error) {
	lower := strings.ToLower(word)
	topics = slices.DeleteFunc(topics, func(t topic) bool { return t.rank(lower) == 3 })
	if len(topics) == 0 {
		return "", errors.New("there is no command or function " + word + ", and no help has this word")
	}
	slices.SortStableFunc(topics, func(a, b topic) int { return cmp.Compare(a.rank(lower), b.rank(lower)) })
	var entries []cli.Entry
	for _, t := range topics[:min(len(topics), mostTopics)] {
		entries = append(entries, cli.Entry{Term: t.name, Text: t.summary})
	}
	var b strings.Builder
	b.WriteString("'" + help + " NAME' shows more on\n")
	cli.WriteEntries(&b, entries)
	if more := len(topics) - len(entries); more > 0 {
		fmt.Fprintf(&b, "and on %d more\n", more)
	}
	return b.String(), nil
}
