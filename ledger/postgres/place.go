package postgres

// CheckURL returns an error if a URL names no ledger on a server, or holds a password. It connects to
// nothing.
func CheckURL(url string) error {
	_, err := parseURL(url)
	return err
}

// String returns what people are shown of where the ledger is: host, port, database and user.
func (l *Ledger) String() string { return Redact(l.url) }
