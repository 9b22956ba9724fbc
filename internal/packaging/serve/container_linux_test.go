package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The last stage of the container file makes an image in which the server starts and serves, with the arguments of README.md. This
// machine stands in for the base of the image, and for the network from which packages come.
func TestImageServes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM ")
	image := map[string]string{}
	for line := range strings.Lines(stages[len(stages)-1]) {
		instruction, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		image[instruction] += value
	}
	list := func(instruction string) (words []string) {
		t.Helper()
		if err := json.Unmarshal([]byte(image[instruction]), &words); err != nil {
			t.Fatalf("%s: %v", instruction, err)
		}
		for i := range words {
			words[i] = quoted(words[i])
		}
		return words
	}
	m := newMachine(t)
	packages := regexp.MustCompile(`(?s)apt-get update .*?install -y --no-install-recommends ([\w -]+?) && rm -rf /var/lib/apt/lists/\* +&& `)
	if !packages.MatchString(image["RUN"]) {
		t.Fatalf("no packages in %s", image["RUN"])
	}
	m.install(packages.ReplaceAllString(image["RUN"], "dpkg --status $1 >/dev/null && "))
	user, group, _ := strings.Cut(image["USER"], ":")
	from := strings.Fields(image["COPY"])
	m.install("cp " + filepath.Base(from[1]) + " " + from[2] + "\n" + certificate + `
mkdir /run/secrets
install -o ` + user + ` -m 0400 owner.key tls-cert.pem tls-key.pem /run/secrets
install -o ` + user + ` -g ` + group + ` -m 0600 energy.db energy.db-ledger ` + image["VOLUME"])

	words := []string{"exec env -i PATH=/usr/sbin:/usr/bin chroot root env --chdir=" + image["WORKDIR"],
		"setpriv --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all", "--reuid=" + user, "--regid=" + group}
	m.start("mount --bind root" + image["VOLUME"] + " root" + image["VOLUME"] + `
mount -o remount,bind,ro root
mount -t tmpfs tmp root/tmp
` + strings.Join(slices.Concat(words, list("ENTRYPOINT"), list("CMD")), " "))
	_, check, _ := strings.Cut(image["HEALTHCHECK"], "CMD ")
	image["HEALTHCHECK"] = check
	healthy := func() error {
		return m.near([]string{"--mount", "--root", "--setuid", user}, "sh", "-c", strings.Join(list("HEALTHCHECK"), " ")).Run()
	}
	for end := time.Now().Add(time.Minute); healthy() != nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the container does not become healthy")
		}
	}
	m.answers("sslmode=require")
	m.stop()
}

// certificate makes a certificate for the server.
const certificate = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=energy -keyout tls-key.pem -out tls-cert.pem`
