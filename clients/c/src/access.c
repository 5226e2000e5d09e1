/* SPDX-License-Identifier: Apache-2.0
 *
 * Access: requests for devices, by letters and by names, and where their data goes. It is part of player.c.
 */

/* Takes a reason why a device is refused. *to is the size of those before. */
static void keep_reason(player_client *c, void *to, const char *line) {
  size_t *n = (size_t *)to, size = strlen(line) + 1;
  if (*n + size >= sizeof c->reasons) return;
  memcpy(c->reasons + *n, line, size);
  c->reasons[*n += size] = 0;
}

/* Writes into error which devices of a request were granted less, and why. */
static player_result refusal(player_client *c, const char *pairs) {
  size_t n = 0, i;
  char name[PLAYER_MAX_DEVICE_NAME];
  for (i = 0; pairs[i] && n < sizeof c->error; i += 2) {
    char granted = player_access(c, pairs[i]);
    const char *reason = granted == 'e' ? player_reason(c, pairs[i]) : "";
    if (enough(pairs[i + 1], granted)) continue;
    if (granted == 'e' && !*reason) reason = "the server's log has the reason";
    n += (size_t)snprintf(c->error + n, sizeof c->error - n, "%sdevice %s: asked for %c, granted %c%s%s", n ? "; " : "",
                          label(c, (uint8_t)pairs[i], name), pairs[i + 1], granted, *reason ? ": " : "", reason);
  }
  return PLAYER_REFUSED;
}

player_result player_request(player_client *c, const char *pairs, int timeout) {
  int64_t deadline = deadline_after(timeout);
  size_t size = strlen(pairs), i;
  bool refused = false, failed = false;
  player_result r;
  if (size % 2) return fail(c, PLAYER_USAGE, pairs, "a request has pairs of device and access");
  r = send_message(c, 'd', 'r', pairs, size);
  if (r != PLAYER_OK) return r;
  c->awaited++;
  c->reasons[0] = 0;
  r = await_reply(c, deadline);
  if (r != PLAYER_OK) return r;
  if (get_u16(c->block + 1) != size) return fail(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 0; i < size; i += 2)
    if (c->block[PLAYER_HEADER_ + i] != (uint8_t)pairs[i]) return fail(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 1; i < size; i += 2) {
    char granted = player_access(c, pairs[i - 1]);
    refused = refused || !enough(pairs[i], granted);
    failed = failed || (granted == 'e' && pairs[i] != 'e');
  }
  i = 0;
  if (failed) (void)ask(c, 'e', keep_reason, &i, deadline); /* the refusal stands */
  return refused ? refusal(c, pairs) : PLAYER_OK;
}

/* Sets *code to the byte of a device by its name, and asks the server if the name is not known. */
static player_result find(player_client *c, const char *name, uint8_t *code, int64_t deadline) {
  size_t n = strcspn(name, ":"), size;
  const char *digits = name + n + (name[n] == ':');
  char full[PLAYER_MAX_DEVICE_NAME];
  int64_t index = 0;
  listing l;
  player_result r;
  int i;
  memset(&l, 0, sizeof l);
  if (name[n] && !*digits) n = 0;
  for (; n > 0 && *digits; digits++) {
    index = index * 10 + (*digits - '0');
    if (*digits < '0' || *digits > '9' || index > INT32_MAX) n = 0;
  }
  if (n == 0)
    return fail(c, PLAYER_USAGE, name, "write an interface and an index, for example laser:1, or an interface");
  size = (size_t)snprintf(full, sizeof full, "%.*s:%ld", (int)(n < sizeof full ? n : sizeof full), name, (long)index);
  *code = strcmp(full, "freshness:0") ? listed_as(c, full, size) : 'y'; /* the server itself, which is in no list */
  if (*code) return PLAYER_OK;
  r = ask(c, 'd', take_entry, &l, deadline);
  if (r != PLAYER_OK) return r;
  *code = listed_as(c, full, size);
  if (!c->answered && index == 0 && interface_letter(full) >= 'a') *code = interface_letter(full);
  if (*code) return PLAYER_OK; /* an older server answers e if it has none */
  size = (size_t)snprintf(c->error, sizeof c->error, "no such device: %s: %s", full,
                          c->answered ? "the robot has" : "this server has only devices with letters");
  for (i = 1; c->answered && i < 256; i++)
    if (c->names[i][0] && size + PLAYER_MAX_DEVICE_NAME + 2 < sizeof c->error)
      size += (size_t)snprintf(c->error + size, sizeof c->error - size, " %s", c->names[i]);
  return PLAYER_REFUSED;
}

player_result player_open(player_client *c, const char *name, char access, char *device, int timeout) {
  int64_t deadline = deadline_after(timeout);
  char pairs[3] = {0, 0, 0};
  uint8_t code = 0;
  player_result r = find(c, name, &code, deadline);
  if (device) *device = (char)code;
  if (r != PLAYER_OK) return r;
  pairs[0] = (char)code;
  pairs[1] = access;
  return player_request(c, pairs, left_until(deadline));
}

static player_result bind_to(player_client *c, char device, uint8_t interface, void *to) {
  uint8_t code = (uint8_t)device;
  if (interface_of(c, code) != interface) return fail(c, PLAYER_USAGE, "bind", "the device is of another interface");
  c->bound[code].to = to;
  c->bound[code].interface = interface;
  c->devices[code].has = false;
  return PLAYER_OK;
}

player_result player_bind_position(player_client *c, char device, player_position *to) {
  return bind_to(c, device, 'p', to);
}

player_result player_bind_laser(player_client *c, char device, player_laser *to) {
  return bind_to(c, device, 'l', to);
}

player_result player_bind_sonar(player_client *c, char device, player_sonar *to) {
  return bind_to(c, device, 's', to);
}

player_result player_bind_ranger(player_client *c, char device, player_ranger *to) {
  return bind_to(c, device, 'R', to);
}

player_result player_bind_imu(player_client *c, char device, player_imu *to) {
  return bind_to(c, device, 'I', to);
}

player_result player_bind_gps(player_client *c, char device, player_gps *to) {
  return bind_to(c, device, 'G', to);
}

player_result player_bind_io(player_client *c, char device, player_io *to) {
  return bind_to(c, device, 'O', to);
}

player_result player_bind_servo(player_client *c, char device, player_servo *to) {
  return bind_to(c, device, 'S', to);
}

player_result player_bind_goto(player_client *c, char device, player_goto *to) {
  return bind_to(c, device, 'T', to);
}

player_result player_bind_misc(player_client *c, char device, player_misc *to) {
  return bind_to(c, device, 'm', to);
}

player_result player_bind_gripper(player_client *c, char device, player_gripper *to) {
  return bind_to(c, device, 'g', to);
}

player_result player_bind_ptz(player_client *c, char device, player_ptz *to) {
  return bind_to(c, device, 'z', to);
}

player_result player_bind_vision(player_client *c, char device, player_vision *to) {
  return bind_to(c, device, 'v', to);
}

player_result player_bind_joystick(player_client *c, char device, player_joystick *to) {
  return bind_to(c, device, 'j', to);
}

player_result player_read(player_client *c, int timeout) {
  int64_t deadline = deadline_after(timeout);
  for (;;) {
    outcome event;
    player_result r;
    if (c->connected && c->awaited == 0 && c->readers == 0) return fail(c, PLAYER_USAGE, "no device is open for reading", "");
    if (c->connected && c->awaited == 0 && c->fresh && !readable(c, 'y')) return fail(c, PLAYER_USAGE, "only new data", "needs device y");
    r = receive(c, deadline, &event);
    if (r != PLAYER_OK) return r;
    if (event == ROUND) return PLAYER_OK;
    if (event == BAD) return PLAYER_PROTOCOL;
    if (late(c, deadline)) return fail(c, PLAYER_TIMEOUT, "timeout", "");
  }
}
