/* SPDX-License-Identifier: Apache-2.0
 *
 * State: the part of a client that programs read. It is part of player.c.
 */

const char *player_strerror(player_result r) {
  switch (r) {
  case PLAYER_OK:
    return "success";
  case PLAYER_REFUSED:
    return "the server granted less than was asked for";
  case PLAYER_TIMEOUT:
    return "the time is over; the connection can be used";
  case PLAYER_CLOSED:
    return "no connection, or it is lost";
  case PLAYER_PROTOCOL:
    return "a message makes no sense";
  case PLAYER_USAGE:
    return "the call makes no sense now";
  }
  return "a result that this library does not know";
}

const char *player_version(void) { return PLAYER_VERSION; }

const char *player_error(const player_client *c) { return c->error; }
bool player_connected(const player_client *c) { return c->connected; }
int player_descriptor(const player_client *c) { return c->connected ? c->fd : -1; }
const char *player_host(const player_client *c) { return c->host; }
int player_port(const player_client *c) { return c->port; }

const player_position *player_get_position(const player_client *c) { return &c->position; }
const uint16_t *player_get_sonar(const player_client *c) { return c->sonar; }
const uint16_t *player_get_laser(const player_client *c) { return c->laser; }
const player_misc *player_get_misc(const player_client *c) { return &c->misc; }
const player_gripper *player_get_gripper(const player_client *c) { return &c->gripper; }
const player_ptz *player_get_ptz(const player_client *c) { return &c->ptz; }
const player_vision *player_get_vision(const player_client *c) { return &c->vision; }
const player_joystick *player_get_joystick(const player_client *c) { return &c->joystick; }
uint64_t player_server_time_us(const player_client *c) { return c->server_time_us; }
int player_size(const player_client *c, char device) { return c->devices[(uint8_t)device].size; }

bool player_has(const player_client *c, char device) { return c->devices[(uint8_t)device].has; }

bool player_new(const player_client *c, char device) {
  return c->round > 0 && c->devices[(uint8_t)device].round == c->round;
}

char player_access(const player_client *c, char device) { return (char)c->devices[(uint8_t)device].access; }

const char *player_why(const player_client *c, char device) {
  const char *line, *rest;
  for (line = c->reasons; *line; line += strlen(line) + 1) {
    uint8_t of = device_of(c, line, &rest);
    const char *text = strchr(rest, ' ');
    if (of && of == (uint8_t)device && text && text > rest && player_access(c, device) == 'e') return rest;
  }
  return "";
}

const char *player_reason(const player_client *c, char device) {
  const char *space = strchr(player_why(c, device), ' ');
  return space ? space + 1 : "";
}

bool player_age_us(const player_client *c, char device, uint64_t *us) {
  const player_device_ *d = &c->devices[(uint8_t)device];
  if (!d->aged || !readable(c, 'y')) return false;
  *us = c->server_time_us - d->taken_us;
  return true;
}

const char *player_device_name(const player_client *c, char device) { return c->names[(uint8_t)device]; }
