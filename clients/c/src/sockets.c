/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets, clock and pause of POSIX and of Windows: the other parts call nothing of a system. A call
 * that fails returns -1 and sets errno. It is part of player.c.
 */

#ifdef _WIN32

/* errno of a failure of Winsock is its own number, from WSABASEERR on, except for those that callers compare with. */
static int winsock_failed(void) {
  int failure = WSAGetLastError();
  errno = failure == WSAEWOULDBLOCK ? EAGAIN : failure == WSAEINTR ? EINTR : failure;
  return -1;
}

static const char *failure_name(int failure) { return failure > WSABASEERR ? gai_strerrorA(failure) : strerror(failure); }
static const char *resolver_failure_name(int failure) { return gai_strerrorA(failure); }

static BOOL CALLBACK winsock_start(PINIT_ONCE once, PVOID argument, PVOID *context) {
  WSADATA data;
  (void)once, (void)argument, (void)context;
  return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

/* Threads of a program may connect at the same time. The end of the process ends Winsock. */
static bool sockets_started(void) {
  static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
  return InitOnceExecuteOnce(&once, winsock_start, NULL, NULL);
}

static int64_t now_ms(void) {
  LARGE_INTEGER t, second;
  QueryPerformanceFrequency(&second);
  QueryPerformanceCounter(&t);
  return t.QuadPart / second.QuadPart * 1000 + t.QuadPart % second.QuadPart * 1000 / second.QuadPart;
}

static void pause_ms(int ms) { Sleep((DWORD)ms); }

static int socket_close(int fd) { return closesocket((SOCKET)fd); }

/* A socket of Windows is a handle, and handles have 32 bits, also where pointers have 64. */
static int socket_open(const struct addrinfo *a) {
  u_long nonblocking = 1;
  BOOL on = TRUE;
  SOCKET s = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
  if (s == INVALID_SOCKET) return winsock_failed();
  if (ioctlsocket(s, (long)FIONBIO, &nonblocking) == 0) {
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, (const char *)&on, sizeof on); /* a command is sent at once */
    SetHandleInformation((HANDLE)s, HANDLE_FLAG_INHERIT, 0); /* fails for handles of some providers */
    return (int)s;
  }
  winsock_failed();
  closesocket(s);
  return -1;
}

static int socket_connect(int fd, const struct addrinfo *a) {
  if (connect((SOCKET)fd, a->ai_addr, (int)a->ai_addrlen) == 0) return 0;
  winsock_failed();
  if (errno == EAGAIN) errno = EINPROGRESS;
  return -1;
}

static int socket_failure(int fd) {
  int failure = 0, size = sizeof failure;
  return getsockopt((SOCKET)fd, SOL_SOCKET, SO_ERROR, (char *)&failure, &size) == 0 ? failure : WSAGetLastError();
}

static ptrdiff_t socket_send(int fd, const void *b, size_t n) {
  int sent = send((SOCKET)fd, (const char *)b, (int)n, 0); /* n is below 64 KB */
  return sent < 0 ? winsock_failed() : sent;
}

static ptrdiff_t socket_receive(int fd, void *b, size_t n) {
  int received = recv((SOCKET)fd, (char *)b, (int)n, 0);
  return received < 0 ? winsock_failed() : received;
}

/* As poll, of one socket. WSAPoll does not report a refused connection before version 2004 of Windows 10; select does,
   as an exception. */
static int socket_poll(int fd, short events, int ms) {
  fd_set in, out, exception;
  struct timeval t;
  int n;
  t.tv_sec = ms / 1000;
  t.tv_usec = ms % 1000 * 1000;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&exception);
  if (events & POLLIN) FD_SET((SOCKET)fd, &in);
  if (events & POLLOUT) FD_SET((SOCKET)fd, &out);
  FD_SET((SOCKET)fd, &exception);
  n = select(0, &in, &out, &exception, ms < 0 ? NULL : &t);
  return n < 0 ? winsock_failed() : n;
}

#else

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS has an option of the socket instead */
#endif

static const char *failure_name(int failure) { return strerror(failure); }
static const char *resolver_failure_name(int failure) { return gai_strerror(failure); }

static bool sockets_started(void) { return true; }

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_ms(int ms) { poll(NULL, 0, ms); }

static int socket_close(int fd) { return close(fd); }

static int socket_open(const struct addrinfo *a) {
  int failure, on = 1, fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
  if (fd < 0) return -1;
  if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a command is sent at once */
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on); /* a server that is gone must not end the program */
#endif
    return fd;
  }
  failure = errno;
  close(fd);
  errno = failure;
  return -1;
}

static int socket_connect(int fd, const struct addrinfo *a) { return connect(fd, a->ai_addr, a->ai_addrlen); }

/* Returns errno of a connection that waited for its address. */
static int socket_failure(int fd) {
  int failure = 0;
  socklen_t size = sizeof failure;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 ? failure : errno;
}

static ptrdiff_t socket_send(int fd, const void *b, size_t n) { return send(fd, b, n, MSG_NOSIGNAL); }
static ptrdiff_t socket_receive(int fd, void *b, size_t n) { return recv(fd, b, n, 0); }

/* Waits ms, -1 for without end, for events of poll. */
static int socket_poll(int fd, short events, int ms) {
  struct pollfd p;
  p.fd = fd;
  p.events = events;
  p.revents = 0;
  return poll(&p, 1, ms);
}

#endif
