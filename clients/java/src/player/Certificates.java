package player;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes the context of a connection by TLS from PEM files, as openssl writes them. */
public final class Certificates {
    private static final char[] NO_PASSWORD = {};

    private Certificates() {}

    /**
     * Trusts servers that have a certificate of an authority. This client shows none.
     *
     * @param authority PEM file of its certificate
     * @return the context
     */
    public static SSLContext trusting(Path authority) {
        return context(authority, null, null);
    }

    /**
     * Trusts servers that have a certificate of an authority, and shows its own. The key is PKCS 8, without a password.
     *
     * @param authority PEM file of its certificate
     * @param certificate PEM file of the own certificate
     * @param key PEM file of its key
     * @return the context
     */
    public static SSLContext trusting(Path authority, Path certificate, Path key) {
        return context(authority, certificate, key);
    }

    private static SSLContext context(Path authority, Path certificate, Path key) {
        try {
            KeyStore trusted = empty();
            int n = 0;
            for (Certificate c : certificates(authority)) {
                trusted.setCertificateEntry("authority" + n++, c);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            KeyManagerFactory own = null;
            if (certificate != null) {
                KeyStore store = empty();
                store.setKeyEntry("own", key(key), NO_PASSWORD, certificates(certificate).toArray(Certificate[]::new));
                own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                own.init(store, NO_PASSWORD);
            }
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(own == null ? null : own.getKeyManagers(), trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new PlayerException(PlayerException.Kind.USAGE, "certificates: " + e, e);
        }
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Collection<? extends Certificate> certificates(Path file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(in);
        }
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file);
        String begin = "-----BEGIN PRIVATE KEY-----";
        int from = text.indexOf(begin);
        int to = text.indexOf("-----END PRIVATE KEY-----");
        if (from < 0 || to < from) {
            throw new InvalidKeySpecException(file + " has no key in PKCS 8: openssl pkcs8 -topk8 -nocrypt makes one");
        }
        byte[] der = Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to));
        for (String kind : new String[] {"EC", "RSA", "Ed25519"}) {
            try {
                return KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (InvalidKeySpecException e) {
                // A key of another kind.
            }
        }
        throw new InvalidKeySpecException(file + " has a key that is neither EC, RSA nor Ed25519");
    }
}
