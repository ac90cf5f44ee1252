package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// credentials makes an account with JetStream and the credentials files of two users
// in it, of which one has expired.
func credentials(t *testing.T) (valid, expired string, trusted func(*server.Options)) {
	t.Helper()
	operator, account := key(t, nkeys.CreateOperator), key(t, nkeys.CreateAccount)
	system := key(t, nkeys.CreateAccount)
	public := func(k nkeys.KeyPair) string { p, err := k.PublicKey(); check(t, err); return p }
	encode := func(c jwt.Claims, k nkeys.KeyPair) string { s, err := c.Encode(k); check(t, err); return s }
	claims := jwt.NewAccountClaims(public(account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, systemJWT := encode(claims, operator), encode(jwt.NewAccountClaims(public(system)), operator)
	login := func(until time.Time) string {
		user := key(t, nkeys.CreateUser)
		userClaims := jwt.NewUserClaims(public(user))
		userClaims.Expires = until.Unix()
		seed, err := user.Seed()
		check(t, err)
		text, err := jwt.FormatUserConfig(encode(userClaims, account), seed)
		check(t, err)
		return file(t, string(text))
	}
	operatorClaims := jwt.NewOperatorClaims(public(operator))
	operatorJWT := encode(operatorClaims, operator)
	return login(time.Now().Add(time.Hour)), login(time.Unix(1700000000, 0)), func(o *server.Options) {
		parsed, err := jwt.DecodeOperatorClaims(operatorJWT)
		check(t, err)
		resolver := &server.MemAccResolver{}
		check(t, resolver.Store(public(account), accountJWT))
		check(t, resolver.Store(public(system), systemJWT))
		o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{parsed}, resolver, public(system)
	}
}

func key(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	k, err := create()
	check(t, err)
	return k
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user.creds")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
