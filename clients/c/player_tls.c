/* SPDX-License-Identifier: Apache-2.0
 *
 * TLS for the C client: see player_tls.h.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "player_tls.h"

#include "player_line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS: player.c sets an option of the socket instead */
#endif

enum { MAX_HOST = 256 };

typedef struct {
  player_line_ line; /* first: the client has a pointer to it */
  SSL_CTX *context;
  BIO_METHOD *network;
  SSL *ssl; /* NULL: not connected */
  char name[MAX_HOST]; /* "": the host */
} tls_line;

/* The network for OpenSSL. Its own would end the program with SIGPIPE. */

static int network_write(BIO *b, const char *data, int size) {
  const player_client *c = (const player_client *)BIO_get_data(b);
  ssize_t n = send(player_descriptor(c), data, (size_t)size, MSG_NOSIGNAL);
  BIO_clear_retry_flags(b);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) BIO_set_retry_write(b);
  return (int)n;
}

static int network_read(BIO *b, char *data, int size) {
  const player_client *c = (const player_client *)BIO_get_data(b);
  ssize_t n = recv(player_descriptor(c), data, (size_t)size, 0);
  BIO_clear_retry_flags(b);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) BIO_set_retry_read(b);
  return (int)n;
}

static long network_control(BIO *b, int command, long number, void *pointer) {
  (void)b, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

/* Writes the oldest error of OpenSSL into the line's text, else the other one. */
static void explain(tls_line *t, const char *otherwise) {
  unsigned long code = ERR_get_error();
  const char *reason = code ? ERR_reason_error_string(code) : NULL;
  long verified = t->ssl ? SSL_get_verify_result(t->ssl) : X509_V_OK;
  if (code && ERR_GET_LIB(code) == ERR_LIB_SYS) reason = strerror(ERR_GET_REASON(code));
  if (verified != X509_V_OK) reason = X509_verify_cert_error_string(verified);
  snprintf(t->line.why, sizeof t->line.why, "%s", reason ? reason : otherwise);
  ERR_clear_error();
}

static int refuse(tls_line *t, const char *otherwise) {
  explain(t, otherwise);
  errno = EPROTO;
  return -1;
}

/* Returns the result of a call of OpenSSL: bytes, 0 at the end, -1 with errno. */
static int result(tls_line *t, int n) {
  int failure;
  char byte;
  if (n > 0) return n;
  failure = SSL_get_error(t->ssl, n);
  if (failure == SSL_ERROR_WANT_READ || failure == SSL_ERROR_WANT_WRITE) {
    t->line.events = failure == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    errno = EAGAIN;
    return -1;
  }
  if (failure == SSL_ERROR_ZERO_RETURN) return 0;
  if (failure == SSL_ERROR_SYSCALL) {
    /* The server may have said why before it closed the connection. */
    int broken = errno;
    if (broken == EPIPE || broken == ECONNRESET) SSL_read(t->ssl, &byte, 1);
    return refuse(t, broken ? strerror(broken) : "the server ended the connection without TLS: is this its port for TLS?");
  }
  return refuse(t, "TLS failed");
}

static ptrdiff_t tls_send(player_client *c, const void *data, size_t size) {
  tls_line *t = (tls_line *)(void *)player_get_line_(c);
  ERR_clear_error();
  errno = 0;
  return result(t, SSL_write(t->ssl, data, (int)size));
}

static ptrdiff_t tls_receive(player_client *c, void *data, size_t size) {
  tls_line *t = (tls_line *)(void *)player_get_line_(c);
  ERR_clear_error();
  errno = 0;
  return result(t, SSL_read(t->ssl, data, (int)size));
}

static void tls_close(player_client *c) {
  tls_line *t = (tls_line *)(void *)player_get_line_(c);
  if (t->ssl && SSL_is_init_finished(t->ssl)) SSL_shutdown(t->ssl);
  SSL_free(t->ssl);
  t->ssl = NULL;
  ERR_clear_error();
}

static int tls_open(player_client *c) {
  tls_line *t = (tls_line *)(void *)player_get_line_(c);
  const char *name = *t->name ? t->name : player_host(c);
  unsigned char address[16];
  bool number = inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
  ERR_clear_error();
  errno = 0;
  if (!t->ssl) {
    BIO *network;
    t->ssl = SSL_new(t->context);
    network = t->ssl ? BIO_new(t->network) : NULL;
    if (!network) return refuse(t, "no memory");
    BIO_set_data(network, c);
    BIO_set_init(network, 1);
    SSL_set_bio(t->ssl, network, network);
    if (number ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), name) != 1
               : SSL_set1_host(t->ssl, name) != 1 || SSL_set_tlsext_host_name(t->ssl, name) != 1)
      return refuse(t, "this is no name of a server");
  }
  return result(t, SSL_connect(t->ssl));
}

static void forget_tls(player_client *c) {
  tls_line *t = (tls_line *)(void *)player_get_line_(c);
  player_set_line_(c, NULL);
  SSL_CTX_free(t->context);
  BIO_meth_free(t->network);
  free(t);
}

player_result player_use_tls(player_client *c, const player_tls *tls) {
  tls_line *t;
  const char *wrong = NULL;
  player_close(c);
  if (player_get_line_(c)) player_get_line_(c)->forget(c);
  if (!tls) return PLAYER_OK;
  t = (tls_line *)calloc(1, sizeof *t);
  if (!t) return player_fail_(c, PLAYER_USAGE, "no memory");
  player_set_line_(c, &t->line);
  t->line.open = tls_open;
  t->line.send = tls_send;
  t->line.receive = tls_receive;
  t->line.close = tls_close;
  t->line.forget = forget_tls;
  ERR_clear_error();
  t->context = SSL_CTX_new(TLS_client_method());
  t->network = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "player");
  if (tls->server_name && strlen(tls->server_name) >= sizeof t->name)
    wrong = "server_name";
  else if (!tls->authority || !t->context || !t->network)
    wrong = "authority";
  else if (SSL_CTX_load_verify_locations(t->context, tls->authority, NULL) != 1)
    wrong = tls->authority;
  else if (tls->certificate && SSL_CTX_use_certificate_chain_file(t->context, tls->certificate) != 1)
    wrong = tls->certificate;
  else if (tls->certificate && (!tls->key || SSL_CTX_use_PrivateKey_file(t->context, tls->key, SSL_FILETYPE_PEM) != 1))
    wrong = tls->key ? tls->key : "key";
  if (wrong) {
    explain(t, "it is missing, or too long");
    char text[400];
    snprintf(text, sizeof text, "%.200s: %.150s", wrong, t->line.why);
    forget_tls(c);
    return player_fail_(c, PLAYER_USAGE, text);
  }
  if (tls->server_name) snprintf(t->name, sizeof t->name, "%s", tls->server_name);
  BIO_meth_set_write(t->network, network_write);
  BIO_meth_set_read(t->network, network_read);
  BIO_meth_set_ctrl(t->network, network_control);
  SSL_CTX_set_min_proto_version(t->context, TLS1_3_VERSION);
  SSL_CTX_set_verify(t->context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_mode(t->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return PLAYER_OK;
}
