package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/serve/internal/throttle"
	"github.com/jackc/pgx/v5"
)

// A guesser has to wait, whether the user exists or not, and nobody else has.
func TestGuesses(t *testing.T) {
	type failure struct{ user, code string }
	failures := make(chan failure, 100)
	still := time.Now() // no wait is over meanwhile
	s := serve(t, Options{Throttle: throttle.New(func() time.Time { return still }), LoginFailed: func(login *Login, reason *Error) { failures <- failure{login.User, reason.Code} }})
	for _, user := range []string{"ana", "nobody"} {
		for i := range 8 {
			_, err := pgx.Connect(background(t), s.dsn("user="+user+" password=guess"))
			want := "28P01"
			if i >= 5 {
				want = "28000"
			}
			if code(err) != want {
				t.Errorf("guess %d for %s: %v", i, user, err)
			}
			if f := <-failures; f != (failure{user, want}) {
				t.Errorf("guess %d for %s is reported as %v", i, user, f)
			}
		}
	}
	if _, err := pgx.Connect(background(t), s.dsn("")); code(err) != "28000" || !strings.Contains(err.Error(), "too many wrong passwords: try again in ") {
		t.Errorf("the right password after guesses: %v", err)
	}
	s.connect(t, "user=björn password=pässwörd\u00a0x")
	if len(failures) != 1 { // that of ana: her password was not checked
		t.Errorf("%d more failures are reported", len(failures))
	}
}
