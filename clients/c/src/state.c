/* SPDX-License-Identifier: Apache-2.0
 *
 * State: what programs read of a client. It is part of player.c.
 */

bool player_has(const player_client *c, char letter) { return c->devices[(uint8_t)letter].has; }

bool player_new(const player_client *c, char letter) {
  return c->round > 0 && c->devices[(uint8_t)letter].round == c->round;
}

char player_access(const player_client *c, char letter) { return (char)c->devices[(uint8_t)letter].access; }

const char *player_why(const player_client *c, char letter) {
  const char *line, *rest;
  for (line = c->reasons; *line; line += strlen(line) + 1) {
    uint8_t device = device_of(c, line, &rest);
    const char *text = strchr(rest, ' ');
    if (device && device == (uint8_t)letter && text && text > rest && player_access(c, letter) == 'e') return rest;
  }
  return "";
}

const char *player_reason(const player_client *c, char letter) {
  const char *space = strchr(player_why(c, letter), ' ');
  return space ? space + 1 : "";
}

bool player_age_us(const player_client *c, char letter, uint64_t *us) {
  const player_device_ *d = &c->devices[(uint8_t)letter];
  if (!d->aged || !readable(c, 'y')) return false;
  *us = c->server_time_us - d->taken_us;
  return true;
}

const char *player_device_name(const player_client *c, char device) { return c->names[(uint8_t)device]; }
