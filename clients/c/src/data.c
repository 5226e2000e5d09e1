/* SPDX-License-Identifier: Apache-2.0
 *
 * Data: from the payload of a block to the structures of programs (PROTOCOL 7). It is part of player.c.
 */

/* The bytes of ACTS 1.0 (PROTOCOL 7.7): every byte is stored plus one. The data
   is unchanged if they are not valid. */
static bool decode_vision(player_vision *v, const uint8_t *b, size_t size) {
  size_t total = 0, at = 2 * PLAYER_CHANNELS;
  int channel, n, i;
  if (size < at) return false;
  for (channel = 0; channel < PLAYER_CHANNELS; channel++) {
    uint8_t index = (uint8_t)(total < 254 ? total + 1 : 255), count = b[2 * channel + 1];
    if (b[2 * channel] != index || count < 1 || count > PLAYER_MAX_BLOBS + 1) return false;
    total += (size_t)count - 1;
  }
  if (size != at + 10 * total) return false;
  for (; at < size; at += 10)
    for (i = 0; i < 10; i++)
      if (b[at + (size_t)i] == 0 || (i < 4 && b[at + (size_t)i] > 64)) return false;
  at = 2 * PLAYER_CHANNELS;
  for (channel = 0; channel < PLAYER_CHANNELS; channel++) {
    v->count[channel] = (uint8_t)(b[2 * channel + 1] - 1);
    for (n = 0; n < v->count[channel]; n++, at += 10) {
      player_blob *blob = &v->blobs[channel][n];
      blob->area = 0;
      for (i = 0; i < 4; i++) blob->area = blob->area << 6 | (uint32_t)(b[at + (size_t)i] - 1);
      blob->x = (uint8_t)(b[at + 4] - 1);
      blob->y = (uint8_t)(b[at + 5] - 1);
      blob->left = (uint8_t)(b[at + 6] - 1);
      blob->right = (uint8_t)(b[at + 7] - 1);
      blob->top = (uint8_t)(b[at + 8] - 1);
      blob->bottom = (uint8_t)(b[at + 9] - 1);
    }
  }
  return true;
}

static bool decode_ranges(uint16_t *to, size_t count, const uint8_t *b, size_t size) {
  size_t i;
  if (size != 2 * count) return false;
  for (i = 0; i < count; i++) to[i] = get_u16(b + 2 * i);
  return true;
}

static bool decode_position(player_position *to, const uint8_t *b, size_t size) {
  if (size != 21) return false;
  to->time = get_u32(b);
  to->x = get_i32(b + 4);
  to->y = get_i32(b + 8);
  to->heading = get_u16(b + 12);
  to->speed = get_i16(b + 14);
  to->turnrate = get_i16(b + 16);
  to->compass = get_u16(b + 18);
  to->stall = b[20];
  return true;
}

static bool decode_misc(player_misc *to, const uint8_t *b, size_t size) {
  if (size != 3) return false;
  to->front = b[0];
  to->rear = b[1];
  to->battery = to->voltage = b[2];
  return true;
}

static bool decode_gripper(player_gripper *to, const uint8_t *b, size_t size) {
  if (size != 2) return false;
  to->state = b[0];
  to->beams = b[1];
  return true;
}

static bool decode_ptz(player_ptz *to, const uint8_t *b, size_t size) {
  if (size != 6) return false;
  to->pan = get_i16(b);
  to->tilt = get_i16(b + 2);
  to->zoom = get_i16(b + 4);
  return true;
}

static bool decode_joystick(player_joystick *to, const uint8_t *b, size_t size) {
  int i;
  if (size != 4 + 2 * PLAYER_AXES) return false;
  to->buttons = get_u32(b);
  for (i = 0; i < PLAYER_AXES; i++) to->axes[i] = get_i16(b + 4 + 2 * i);
  return true;
}

static bool decode_ranger(player_ranger *to, const uint8_t *b, size_t size) {
  if (size < 2 || size % 2 || size > 2 + 2 * PLAYER_MAX_READINGS || get_u16(b) == 0) return false;
  to->unit = get_u16(b);
  to->count = (uint16_t)(size / 2 - 1);
  return decode_ranges(to->ranges, to->count, b + 2, size - 2);
}

static bool decode_imu(player_imu *to, const uint8_t *b, size_t size) {
  if (size != 36) return false;
  to->roll = get_i32(b);
  to->pitch = get_i32(b + 4);
  to->yaw = get_i32(b + 8);
  to->roll_rate = get_i32(b + 12);
  to->pitch_rate = get_i32(b + 16);
  to->yaw_rate = get_i32(b + 20);
  to->x = get_i32(b + 24);
  to->y = get_i32(b + 28);
  to->z = get_i32(b + 32);
  return true;
}

static bool decode_gps(player_gps *to, const uint8_t *b, size_t size) {
  if (size != 38) return false;
  to->fix = b[0];
  to->satellites = b[1];
  to->latitude = get_i32(b + 2);
  to->longitude = get_i32(b + 6);
  to->height = get_i32(b + 10);
  to->horizontal = get_u32(b + 14);
  to->vertical = get_u32(b + 18);
  to->time = get_u64(b + 22);
  to->speed = get_u32(b + 30);
  to->course = get_u32(b + 34);
  return true;
}

static bool decode_io(player_io *to, const uint8_t *b, size_t size) {
  int i;
  if (size % 4 || size > 4 * PLAYER_MAX_IO) return false;
  to->count = (int)(size / 4);
  for (i = 0; i < to->count; i++) to->values[i] = get_i32(b + 4 * i);
  return true;
}

static bool decode_servo(player_servo *to, const uint8_t *b, size_t size) {
  int i;
  if (size % 9 || size > 9 * PLAYER_MAX_JOINTS) return false;
  to->count = (int)(size / 9);
  for (i = 0; i < to->count; i++, b += 9) {
    to->joints[i].position = get_i32(b);
    to->joints[i].goal = get_i32(b + 4);
    to->joints[i].state = b[8];
  }
  return true;
}

static bool decode_goto(player_goto *to, const uint8_t *b, size_t size) {
  if (size != 18) return false;
  to->state = b[0];
  to->reason = b[1];
  to->tag = get_u16(b + 2);
  to->x = get_i32(b + 4);
  to->y = get_i32(b + 8);
  to->heading = get_u16(b + 12);
  to->distance = get_u32(b + 14);
  return true;
}

/* Returns the member for the data of the first device of an interface, or NULL. */
static void *member_for(player_client *c, uint8_t letter) {
  switch (letter) {
  case 'p':
    return &c->position;
  case 's':
    return c->sonar;
  case 'l':
    return c->laser;
  case 'm':
    return &c->misc;
  case 'g':
    return &c->gripper;
  case 'z':
    return &c->ptz;
  case 'v':
    return &c->vision;
  case 'j':
    return &c->joystick;
  }
  return NULL;
}

/* Stores the payload of a device. It returns false, and changes no data, if the
   payload is not the device's. Devices that have no place for data are skipped. */
static bool decode(player_client *c, uint8_t device, const uint8_t *b, size_t size) {
  int i;
  uint8_t interface = interface_of(c, device);
  bool bound = c->bound[device].to && c->bound[device].interface == interface;
  void *to = bound ? c->bound[device].to : interface == device ? member_for(c, device) : NULL;
  if (!to && interface != 'y') return true;
  switch (interface) {
  case 'p':
    return decode_position((player_position *)to, b, size);
  case 's':
    return decode_ranges((uint16_t *)to, PLAYER_SONARS, b, size);
  case 'l':
    return decode_ranges((uint16_t *)to, PLAYER_LASERS, b, size);
  case 'm':
    return decode_misc((player_misc *)to, b, size);
  case 'g':
    return decode_gripper((player_gripper *)to, b, size);
  case 'z':
    return decode_ptz((player_ptz *)to, b, size);
  case 'v':
    return decode_vision((player_vision *)to, b, size);
  case 'j':
    return decode_joystick((player_joystick *)to, b, size);
  case 'R':
    return decode_ranger((player_ranger *)to, b, size);
  case 'I':
    return decode_imu((player_imu *)to, b, size);
  case 'G':
    return decode_gps((player_gps *)to, b, size);
  case 'O':
    return decode_io((player_io *)to, b, size);
  case 'S':
    return decode_servo((player_servo *)to, b, size);
  case 'T':
    return decode_goto((player_goto *)to, b, size);
  case 'y':
    if (size < 8 || (size - 8) % 4 != 0 || (size - 8) / 4 > PLAYER_MAX_AGES_) return false;
    c->server_time_us = get_u64(b);
    c->age_count = (int)((size - 8) / 4);
    for (i = 0; i < c->age_count; i++) c->ages[i] = get_u32(b + 8 + 4 * i);
    return true;
  }
  return true;
}
