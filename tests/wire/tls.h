/*
 * TLS for the scripted server, with an authority and certificates made on the spot.
 *
 *     struct server_tls *tls = server_tls_new(dir, false);   // writes dir/ca.pem, dir/client.pem …
 *     server_start(&(struct server_script){.tls = tls, ...});
 *     server_tls_free(tls);
 */
#ifndef TALLY_TESTS_WIRE_TLS_H
#define TALLY_TESTS_WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct server_tls;
struct tls_session;

/* dir: where ca.pem, client.pem and client.key are written; ask_client: demand a client's
 * certificate that the authority signed. */
struct server_tls *server_tls_new(const char *dir, bool ask_client);
/* Offers HTTP/2 (ALPN "h2") from now on. */
void server_tls_offer_h2(struct server_tls *tls);
void server_tls_free(struct server_tls *tls);

struct tls_session *tls_accept(struct server_tls *tls, int fd); /* NULL when it failed */
void tls_close(struct tls_session *t, bool orderly);            /* NULL is fine */
bool tls_pending(const struct tls_session *t);
ssize_t tls_read(struct tls_session *t, char *to, size_t n);
ssize_t tls_write(struct tls_session *t, const char *bytes, size_t n);

#endif
