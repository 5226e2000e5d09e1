/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, by their bytes and their names. It is part of player.c.
 */

/* The interfaces, and the letters of their first devices. The capital letters are never sent: they
   name interfaces whose devices all have bytes of the server. */
static const struct {
  const char *name;
  uint8_t letter;
} interfaces[] = {{"laser", 'l'}, {"sonar", 's'}, {"position", 'p'}, {"gripper", 'g'}, {"misc", 'm'}, {"vision", 'v'},
  {"ptz", 'z'}, {"joystick", 'j'}, {"ranger", 'R'}, {"imu", 'I'}, {"gps", 'G'}, {"io", 'O'}, {"servo", 'S'}, {"goto", 'T'},
  {NULL, 0}};

/* Returns the letter of the interface with which a name begins, 0 if the library does not know it. */
static uint8_t interface_letter(const char *name) {
  size_t n = strcspn(name, ":"), i;
  for (i = 0; interfaces[i].name; i++)
    if (strlen(interfaces[i].name) == n && !memcmp(interfaces[i].name, name, n)) return interfaces[i].letter;
  return 0;
}

/* Returns the letter of the interface of a device, 0 if the library does not know it. */
static uint8_t interface_of(const player_client *c, uint8_t device) {
  if (c->names[device][0]) return c->interfaces[device];
  return device && strchr("lspgmvzjy", device) ? device : 0;
}

/* Returns the byte of a device by its name in the list, which has n bytes, 0 without one. */
static uint8_t listed_as(const player_client *c, const char *name, size_t n) {
  int i;
  for (i = 1; c->listed && n > 0 && n < PLAYER_MAX_DEVICE_NAME && i < 256; i++)
    if (!memcmp(c->names[i], name, n) && !c->names[i][n]) return (uint8_t)i;
  return 0;
}

/* Returns the byte of the device with which a line begins, 0 if it is not known, and has *rest behind it. */
static uint8_t device_of(const player_client *c, const char *line, const char **rest) {
  size_t n = strcspn(line, " ");
  uint8_t device = listed_as(c, line, n);
  *rest = line + n + (line[n] == ' ');
  return device || n != 1 ? device : (uint8_t)line[0];
}

/* Writes a device for people: its letter, its name in the list, or its number. */
static const char *label(const player_client *c, uint8_t device, char to[PLAYER_MAX_DEVICE_NAME]) {
  bool lettered = !c->names[device][0] || c->interfaces[device] == device;
  if (!lettered) return c->names[device];
  snprintf(to, PLAYER_MAX_DEVICE_NAME, device > ' ' && device <= '~' ? "%c" : "%d", device);
  return to;
}

static bool readable(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'r' || c->devices[letter].access == 'a';
}
static bool writable(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'w' || c->devices[letter].access == 'a';
}

/* Reports whether an access includes the requested one. */
static bool enough(char asked, char granted) {
  return granted == asked || (granted == 'a' && (asked == 'r' || asked == 'w'));
}
