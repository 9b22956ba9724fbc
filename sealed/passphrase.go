package sealed

import (
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/pem"
)

// An encrypted key is the number of iterations, 4 bytes big-endian, a salt of 16 bytes, and the
// serialised private key, encrypted with AES-256-GCM under PBKDF2-HMAC-SHA-256 of the passphrase
// with that salt, at a nonce of 12 zeros. The salt is drawn for each file, so that no key of AES
// is used twice. Iterations and salt are the associated data.
const (
	iterations     = 1_000_000 // a third of a second
	mostIterations = 1 << 27
	saltSize       = 16
	encryptedHead  = 4 + saltSize
)

// Encrypt returns the private key in PEM, encrypted with the passphrase. Somebody who has the
// file can try ten thousand passphrases an hour on each core of a processor, and far more on
// other hardware: one that can be guessed is no protection.
func (k *PrivateKey) Encrypt(passphrase []byte) ([]byte, error) {
	plain, err := k.key.Bytes()
	if err != nil {
		return nil, err
	}
	head := binary.BigEndian.AppendUint32(make([]byte, 0, encryptedHead), iterations)[:encryptedHead]
	rand.Read(head[4:])
	gcm, err := passphraseCipher(passphrase, head)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: encryptedLabel, Bytes: gcm.Seal(head, make([]byte, gcm.NonceSize()), plain, head)}), nil
}

// decrypt returns the serialised private key that Encrypt has encrypted.
func decrypt(b, passphrase []byte) ([]byte, error) {
	if len(b) < encryptedHead || binary.BigEndian.Uint32(b) > mostIterations || binary.BigEndian.Uint32(b) == 0 {
		return nil, errPrivateKey
	}
	head := b[:encryptedHead]
	gcm, err := passphraseCipher(passphrase, head)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, make([]byte, gcm.NonceSize()), b[encryptedHead:], head)
	if err != nil {
		return nil, ErrPassphrase
	}
	return plain, nil
}

// passphraseCipher returns the cipher of a passphrase, with the iterations and the salt of head.
func passphraseCipher(passphrase, head []byte) (cipher.AEAD, error) {
	key, err := pbkdf2.Key(sha256.New, string(passphrase), head[4:], int(binary.BigEndian.Uint32(head)), 32)
	if err != nil {
		return nil, err
	}
	return newGCM(key)
}
