/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands and configuration (PROTOCOL 4, 5, 6). It is part of player.c.
 */

/* ---- Commands (PROTOCOL 5) ---- */

player_result player_command(player_client *c, char device, const void *payload, size_t size) {
  if (c->connected && !writable(c, (uint8_t)device)) return fail(c, PLAYER_USAGE, "command", "no write access to the device");
  return send_message(c, 'c', device, payload, size);
}

/* Limits v to the range of an i16, so that a speed never changes its sign. */
static void put_i16(uint8_t *b, int v) {
  unsigned u = (unsigned)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
  b[0] = (uint8_t)(u >> 8);
  b[1] = (uint8_t)u;
}

player_result player_set_speed(player_client *c, int speed, int turnrate) {
  uint8_t b[4];
  put_i16(b, speed);
  put_i16(b + 2, turnrate);
  return player_command(c, 'p', b, sizeof b);
}

player_result player_set_ptz(player_client *c, int pan, int tilt, int zoom) {
  uint8_t b[6];
  put_i16(b, pan);
  put_i16(b + 2, tilt);
  put_i16(b + 4, zoom);
  return player_command(c, 'z', b, sizeof b);
}

player_result player_set_gripper(player_client *c, uint8_t command, uint8_t argument) {
  uint8_t b[2];
  b[0] = command;
  b[1] = argument;
  return player_command(c, 'g', b, sizeof b);
}

static void put_u32(uint8_t *b, uint32_t v) {
  int i;
  for (i = 0; i < 4; i++) b[i] = (uint8_t)(v >> (24 - 8 * i));
}

player_result player_set_output(player_client *c, char device, uint8_t channel, int32_t value) {
  uint8_t b[5];
  b[0] = channel;
  put_u32(b + 1, (uint32_t)value);
  return player_command(c, device, b, sizeof b);
}

player_result player_move_joint(player_client *c, char device, uint8_t joint, int32_t goal, uint32_t speed) {
  uint8_t b[9];
  b[0] = joint;
  put_u32(b + 1, (uint32_t)goal);
  put_u32(b + 5, speed);
  return player_command(c, device, b, sizeof b);
}

player_result player_stop_joints(player_client *c, char device) {
  return player_move_joint(c, device, PLAYER_ALL_JOINTS, PLAYER_UNKNOWN, 0);
}

player_result player_set_goal(player_client *c, char device, const player_goal *goal) {
  uint16_t rest[6];
  uint8_t b[20];
  int i;
  rest[0] = goal->heading;
  rest[1] = goal->speed;
  rest[2] = goal->turnrate;
  rest[3] = goal->tolerance;
  rest[4] = goal->radius;
  rest[5] = goal->tag;
  put_u32(b, (uint32_t)goal->x);
  put_u32(b + 4, (uint32_t)goal->y);
  for (i = 0; i < 6; i++) {
    b[8 + 2 * i] = (uint8_t)(rest[i] >> 8);
    b[9 + 2 * i] = (uint8_t)rest[i];
  }
  return player_command(c, device, b, sizeof b);
}

player_result player_stop_goal(player_client *c, char device) {
  player_goal none = {PLAYER_UNKNOWN, 0, 0, 0, 0, 0, 0, 0};
  return player_set_goal(c, device, &none);
}

const char *player_goto_reason(uint8_t reason) {
  static const char *const reasons[] = {"it goes on", "it was commanded to stop", "the wheels got another command",
    "the emergency stop is active", "its sensors give no ranges", "its wheels give no odometry", "it has found no way",
    "the goal is too far, or the robot too wide", "its motors are off"};
  return reason < sizeof reasons / sizeof *reasons ? reasons[reason] : "of a reason that this library does not know";
}

/* ---- Configuration (PROTOCOL 4, 6). The server does not answer. ---- */

static player_result configure(player_client *c, char letter, char code, int size, int value) {
  uint8_t b[3];
  b[0] = (uint8_t)code;
  if (size == 1) b[1] = (uint8_t)value;
  if (size == 2) put_i16(b + 1, value > INT16_MAX ? value - 0x10000 : value);
  return send_message(c, 'x', letter, b, 1 + (size_t)size);
}

player_result player_set_frequency(player_client *c, int hz) {
  player_result r;
  if (hz < 1 || hz > UINT16_MAX) return fail(c, PLAYER_USAGE, "frequency", "1 to 65535 Hz");
  r = configure(c, 'y', 'f', 2, hz);
  if (r == PLAYER_OK) c->frequency = hz;
  return r;
}

player_result player_set_command_lifetime(player_client *c, int ms) {
  player_result r;
  if (ms < 0 || ms > 60000) return fail(c, PLAYER_USAGE, "lifetime", "0 to 60000 ms");
  r = configure(c, 'y', 'l', 2, ms);
  if (r == PLAYER_OK) c->lifetime = ms;
  return r;
}

player_result player_set_request_reply(player_client *c, bool on) {
  player_result r = configure(c, 'y', 'r', 1, on);
  if (r == PLAYER_OK) c->request_reply = on;
  return r;
}

player_result player_request_data(player_client *c) { return configure(c, 'y', 'd', 0, 0); }

player_result player_set_fresh(player_client *c, bool on) {
  player_result r;
  if (on && c->connected && !readable(c, 'y')) return fail(c, PLAYER_USAGE, "only new data", "needs device y");
  r = configure(c, 'y', 'n', 1, on);
  if (r == PLAYER_OK) c->fresh = on;
  return r;
}

player_result player_set_compact(player_client *c, int form) {
  player_result r;
  if (form < PLAYER_PLAIN || form > PLAYER_COMPACT_WHEN_FULL) return fail(c, PLAYER_USAGE, "form of rounds", "0 to 2");
  r = configure(c, 'y', 'z', 1, form);
  if (r == PLAYER_OK) c->compact = form;
  return r;
}

player_result player_set_name(player_client *c, const char *name) {
  char payload[1 + PLAYER_MAX_NAME_];
  size_t n = strlen(name), i;
  player_result r;
  if (n > PLAYER_MAX_NAME_) return fail(c, PLAYER_USAGE, "name", "longer than 64 bytes");
  for (i = 0; i < n; i++)
    if (name[i] < ' ' || name[i] > '~') return fail(c, PLAYER_USAGE, "name", "not printable ASCII");
  payload[0] = 'w';
  memcpy(payload + 1, name, n); /* NOLINT(bugprone-not-null-terminated-result): its size goes with it */
  r = send_message(c, 'x', 'y', payload, 1 + n);
  if (r == PLAYER_OK) memmove(c->name, name, n + 1);
  return r;
}

player_result player_emergency_stop(player_client *c, bool on) { return configure(c, 'y', 'e', 1, on); }

player_result player_change_motor_state(player_client *c, bool on) { return configure(c, 'p', 'm', 1, on); }
player_result player_change_velocity_control(player_client *c, bool separate) { return configure(c, 'p', 'v', 1, separate); }
player_result player_reset_position(player_client *c) { return configure(c, 'p', 'R', 0, 0); }

player_result player_config(player_client *c, char device, const void *payload, size_t size) {
  return send_message(c, 'x', device, payload, size);
}
