/* SPDX-License-Identifier: Apache-2.0
 *
 * The adapter of the C client for the conformance suite (docs/CLIENTS.md).
 */
#include "player_simulation.h"

#include "json.h"

#ifdef WITH_TLS
#include "player_tls.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static player_client *robot;
static char problem[512]; /* text of a simulation's result */

/* A device that was opened by its name, and its data. */
static struct {
  char name[32], device, interface[16];
  union {
    player_laser laser;
    player_ranger ranger;
    player_imu imu;
    player_gps gps;
    player_io io;
    player_servo servo;
    player_goto drive;
  } data;
} opened[16];
static int open_count;

/* Returns the place of a device that was opened by its name, -1 without one. */
static int opened_as(const char *name) {
  int i = open_count - 1;
  while (i >= 0 && strcmp(opened[i].name, name)) i--;
  return i;
}

/* Prints a device: its letter, or its name in the server's list. */
static void label_of(char device) {
  const char letter[] = {device, 0};
  json_print(device >= 'a' && device <= 'z' ? letter : player_device_name(robot, device));
}

static const char *const kinds[] = {"", "refused", "timeout", "closed", "protocol", "usage"};

/* Ends an answer that has begun with "{" and perhaps members. */
static void finish(player_result r) {
  if (r == PLAYER_OK)
    printf("\"ok\":true}\n");
  else {
    printf("\"ok\":false,\"error\":\"%s\",\"text\":", kinds[r]);
    json_print(*problem ? problem : *player_error(robot) ? player_error(robot) : player_strerror(r));
    printf("}\n");
  }
}

/* Prints why devices are refused. */
static void why(const char *pairs) {
  const char *comma = "";
  printf("\"why\":{");
  for (; *pairs; pairs += 2) {
    if (!*player_why(robot, *pairs)) continue;
    printf("%s", comma);
    label_of(*pairs);
    putchar(':');
    json_print(player_why(robot, *pairs));
    comma = ",";
  }
  printf("},");
}

static player_result request(const char *line) {
  char pairs[600] = "";
  size_t i;
  player_result r;
  json_string(line, "pairs", pairs, sizeof pairs);
  r = player_request(robot, pairs, json_int(line, "timeout_ms"));
  for (i = 1; i < strlen(pairs); i += 2)
    if (r == PLAYER_OK || r == PLAYER_REFUSED) pairs[i] = player_access(robot, pairs[i - 1]);
  if (r == PLAYER_OK || r == PLAYER_REFUSED) printf("\"granted\":\"%s\",", pairs);
  if (r == PLAYER_REFUSED) why(pairs);
  return r;
}

static player_result read_round(const char *line) {
  player_result r = player_read(robot, json_int(line, "timeout_ms"));
  const char *letter;
  int i;
  printf("\"new\":\"");
  for (letter = "lspgmvzjy"; *letter; letter++)
    if (r == PLAYER_OK && player_new(robot, *letter)) putchar(*letter);
  for (i = 0; i < open_count; i++)
    if (r == PLAYER_OK && (uint8_t)opened[i].device >= 128 && player_new(robot, opened[i].device))
      printf("\\u%04x", (uint8_t)opened[i].device);
  printf("\",");
  return r;
}

static void list(const char *name, const uint16_t *ranges, int n) {
  int i;
  printf("\"%s\":[", name);
  for (i = 0; i < n; i++) printf("%s%u", i ? "," : "", ranges[i]);
  printf("]");
}

static void vision(const player_vision *v) {
  int i, n;
  printf("\"channels\":[");
  for (n = 0; n < PLAYER_CHANNELS; n++) {
    printf("%s[", n ? "," : "");
    for (i = 0; i < v->count[n]; i++) {
      const player_blob *b = &v->blobs[n][i];
      printf("%s{\"color\":%d,\"area\":%lu,\"x\":%u,\"y\":%u,", i ? "," : "", n, (unsigned long)b->area, b->x, b->y);
      printf("\"left\":%u,\"right\":%u,\"top\":%u,\"bottom\":%u}", b->left, b->right, b->top, b->bottom);
    }
    printf("]");
  }
  printf("]");
}

static void data(char letter) {
  const player_position *p = player_get_position(robot);
  const player_misc *m = player_get_misc(robot);
  const player_gripper *g = player_get_gripper(robot);
  const player_ptz *z = player_get_ptz(robot);
  const player_joystick *j = player_get_joystick(robot);
  int i;
  putchar('{');
  switch (letter) {
  case 'p':
    printf("\"time\":%lu,\"x\":%ld,\"y\":%ld,", (unsigned long)p->time, (long)p->x, (long)p->y);
    printf("\"heading\":%u,\"speed\":%d,\"turnrate\":%d,", p->heading, p->speed, p->turnrate);
    printf("\"compass\":%u,\"stall\":%u", p->compass, p->stall);
    break;
  case 's':
    list("ranges", player_get_sonar(robot), PLAYER_SONARS);
    break;
  case 'l':
    list("ranges", player_get_laser(robot), PLAYER_LASERS);
    break;
  case 'm':
    printf("\"front\":%u,\"rear\":%u,\"battery\":%u,\"voltage\":%u", m->front, m->rear, m->battery, m->voltage);
    break;
  case 'g':
    printf("\"state\":%u,\"beams\":%u", g->state, g->beams);
    break;
  case 'z':
    printf("\"pan\":%d,\"tilt\":%d,\"zoom\":%d", z->pan, z->tilt, z->zoom);
    break;
  case 'v':
    vision(player_get_vision(robot));
    break;
  case 'j':
    printf("\"buttons\":%lu,\"axes\":[", (unsigned long)j->buttons);
    for (i = 0; i < PLAYER_AXES; i++) printf("%s%d", i ? "," : "", j->axes[i]);
    printf("]");
    break;
  case 'y':
    printf("\"time\":%llu", (unsigned long long)player_server_time_us(robot));
    break;
  }
  printf("},");
}

/* Opens a device by its name. */
static player_result open_device(const char *line) {
  char name[32], access[4], pairs[3] = {0, 'e', 0};
  int n = open_count < 16 ? open_count : 15;
  player_result r;
  json_string(line, "name", name, sizeof name);
  json_string(line, "access", access, sizeof access);
  r = player_open(robot, name, access[0], &opened[n].device, json_int(line, "timeout_ms"));
  pairs[0] = opened[n].device;
  if (pairs[0]) printf("\"code\":%u,", (uint8_t)pairs[0]);
  if (pairs[0] && r == PLAYER_REFUSED) why(pairs);
  if (r != PLAYER_OK) return r;
  snprintf(opened[n].name, sizeof opened[n].name, "%s", name);
  snprintf(opened[n].interface, sizeof opened[n].interface, "%.*s", (int)strcspn(name, ":"), name);
  open_count = n + 1;
  if (!strcmp(opened[n].interface, "laser")) return player_bind_laser(robot, pairs[0], &opened[n].data.laser);
  if (!strcmp(opened[n].interface, "ranger")) return player_bind_ranger(robot, pairs[0], &opened[n].data.ranger);
  if (!strcmp(opened[n].interface, "imu")) return player_bind_imu(robot, pairs[0], &opened[n].data.imu);
  if (!strcmp(opened[n].interface, "gps")) return player_bind_gps(robot, pairs[0], &opened[n].data.gps);
  if (!strcmp(opened[n].interface, "io")) return player_bind_io(robot, pairs[0], &opened[n].data.io);
  if (!strcmp(opened[n].interface, "servo")) return player_bind_servo(robot, pairs[0], &opened[n].data.servo);
  if (!strcmp(opened[n].interface, "goto")) return player_bind_goto(robot, pairs[0], &opened[n].data.drive);
  return PLAYER_OK;
}

static player_result set_goal(char device, const int v[8]) {
  player_goal goal;
  if (v[0] == PLAYER_UNKNOWN) return player_stop_goal(robot, device);
  goal.x = v[0];
  goal.y = v[1];
  goal.heading = (uint16_t)v[2];
  goal.speed = (uint16_t)v[3];
  goal.turnrate = (uint16_t)v[4];
  goal.tolerance = (uint16_t)v[5];
  goal.radius = (uint16_t)v[6];
  goal.tag = (uint16_t)v[7];
  return player_set_goal(robot, device, &goal);
}

/* Prints the data of a device that was opened by its name. */
static void named_data(int n) {
  const char *interface = opened[n].interface;
  int i;
  putchar('{');
  if (!strcmp(interface, "laser")) {
    list("ranges", opened[n].data.laser.ranges, PLAYER_LASERS);
  } else if (!strcmp(interface, "ranger")) {
    printf("\"unit_mm\":%u,", opened[n].data.ranger.unit);
    list("ranges", opened[n].data.ranger.ranges, opened[n].data.ranger.count);
  } else if (!strcmp(interface, "imu")) {
    const player_imu *d = &opened[n].data.imu;
    printf("\"roll_mdeg\":%ld,\"pitch_mdeg\":%ld,\"yaw_mdeg\":%ld,", (long)d->roll, (long)d->pitch, (long)d->yaw);
    printf("\"roll_rate_mdeg_per_s\":%ld,", (long)d->roll_rate);
    printf("\"pitch_rate_mdeg_per_s\":%ld,\"yaw_rate_mdeg_per_s\":%ld,", (long)d->pitch_rate, (long)d->yaw_rate);
    printf("\"x_mm_per_s2\":%ld,\"y_mm_per_s2\":%ld,\"z_mm_per_s2\":%ld", (long)d->x, (long)d->y, (long)d->z);
  } else if (!strcmp(interface, "gps")) {
    const player_gps *d = &opened[n].data.gps;
    printf("\"fix\":%u,\"satellites\":%u,\"latitude_e7\":%ld,", d->fix, d->satellites, (long)d->latitude);
    printf("\"longitude_e7\":%ld,\"height_mm\":%ld,", (long)d->longitude, (long)d->height);
    printf("\"horizontal_mm\":%lu,\"vertical_mm\":%lu,", (unsigned long)d->horizontal, (unsigned long)d->vertical);
    printf("\"time_ms\":%llu,", (unsigned long long)d->time);
    printf("\"speed_mm_per_s\":%lu,\"course_mdeg\":%lu", (unsigned long)d->speed, (unsigned long)d->course);
  } else if (!strcmp(interface, "io")) {
    printf("\"values\":[");
    for (i = 0; i < opened[n].data.io.count; i++) printf("%s%ld", i ? "," : "", (long)opened[n].data.io.values[i]);
    putchar(']');
  } else if (!strcmp(interface, "servo")) {
    printf("\"joints\":[");
    for (i = 0; i < opened[n].data.servo.count; i++) {
      const player_joint *j = &opened[n].data.servo.joints[i];
      printf("%s{\"position\":%ld,\"goal\":%ld,", i ? "," : "", (long)j->position, (long)j->goal);
      printf("\"state\":%u}", j->state);
    }
    putchar(']');
  } else if (!strcmp(interface, "goto")) {
    const player_goto *d = &opened[n].data.drive;
    printf("\"state\":%u,\"reason\":%u,\"tag\":%u,\"x_mm\":%ld,", d->state, d->reason, d->tag, (long)d->x);
    printf("\"y_mm\":%ld,\"heading_deg\":%u,\"distance_mm\":%lu", (long)d->y, d->heading, (unsigned long)d->distance);
  }
  printf("},");
}

static player_result get(const char *line) {
  char name[32], device;
  int n;
  uint64_t us;
  json_string(line, "device", name, sizeof name);
  n = opened_as(name);
  if (n < 0 && strlen(name) != 1) return PLAYER_USAGE;
  device = n < 0 ? name[0] : opened[n].device;
  printf("\"size\":%u,\"age_us\":", (unsigned)player_size(robot, device));
  if (player_age_us(robot, device, &us))
    printf("%llu,\"data\":", (unsigned long long)us);
  else
    printf("null,\"data\":");
  if (player_has(robot, device) && n >= 0)
    named_data(n);
  else if (player_has(robot, device))
    data(device);
  else
    printf("null,");
  return PLAYER_OK;
}

static player_result command(const char *line) {
  char device[32];
  int v[8] = {0, 0, 0, 0, 0, 0, 0, 0}, n;
  json_string(line, "device", device, sizeof device);
  json_ints(line, "values", v, 8);
  n = opened_as(device);
  if (n >= 0 && !strcmp(opened[n].interface, "io"))
    return player_set_output(robot, opened[n].device, (uint8_t)v[0], v[1]);
  if (n >= 0 && !strcmp(opened[n].interface, "goto")) return set_goal(opened[n].device, v);
  if (n >= 0 && !strcmp(opened[n].interface, "servo") && v[0] == PLAYER_ALL_JOINTS && v[1] == PLAYER_UNKNOWN)
    return player_stop_joints(robot, opened[n].device);
  if (n >= 0 && !strcmp(opened[n].interface, "servo"))
    return player_move_joint(robot, opened[n].device, (uint8_t)v[0], v[1], (uint32_t)v[2]);
  if (strlen(device) != 1) return PLAYER_USAGE;
  switch (device[0]) {
  case 'p':
    return player_set_speed(robot, v[0], v[1]);
  case 'z':
    return player_set_ptz(robot, v[0], v[1], v[2]);
  case 'g':
    return player_set_gripper(robot, (uint8_t)v[0], (uint8_t)v[1]);
  }
  return PLAYER_USAGE;
}

static player_result config(const char *line) {
  char name[32], text[128];
  int value = json_int(line, "value");
  json_string(line, "name", name, sizeof name);
  if (!strcmp(name, "frequency")) return player_set_frequency(robot, value);
  if (!strcmp(name, "lifetime")) return player_set_command_lifetime(robot, value);
  if (!strcmp(name, "mode")) return player_set_request_reply(robot, value != 0);
  if (!strcmp(name, "data")) return player_request_data(robot);
  if (!strcmp(name, "fresh")) return player_set_fresh(robot, value != 0);
  if (!strcmp(name, "motors")) return player_change_motor_state(robot, value != 0);
  if (!strcmp(name, "velocity")) return player_change_velocity_control(robot, value != 0);
  if (!strcmp(name, "name")) return json_string(line, "text", text, sizeof text), player_set_name(robot, text);
  if (!strcmp(name, "stop")) return player_emergency_stop(robot, value != 0);
  if (!strcmp(name, "reset_odometry")) return player_reset_position(robot);
  return PLAYER_USAGE;
}

/* Prints a member that is a number. */
static void member(const char *name, double value) { printf(",\"%s\":%.17g", name, value); }

#ifdef WITH_TLS
/* Uses TLS as a request has it. */
static player_result use_tls(player_client *c, const char *line) {
  static char authority[512], certificate[512], key[512], server[256];
  player_tls tls;
  json_string(line, "authority", authority, sizeof authority);
  json_string(line, "certificate", certificate, sizeof certificate);
  json_string(line, "key", key, sizeof key);
  json_string(line, "server", server, sizeof server);
  tls.authority = authority;
  tls.certificate = *certificate ? certificate : NULL;
  tls.key = *key ? key : NULL;
  tls.server_name = *server ? server : NULL;
  return player_use_tls(c, *authority ? &tls : NULL);
}
#else
static player_result use_tls(player_client *c, const char *line) {
  (void)c;
  return json_value(line, "authority") ? PLAYER_USAGE : PLAYER_OK;
}
#endif

static player_simulation world;

static player_result simulate(const char *line) {
  static player_mover movers[10];
  static char host[256];
  char order[2048];
  player_result r;
  int i, n;
  json_string(line, "host", host, sizeof host);
  world.host = host;
  world.port = json_int(line, "port");
  world.movers = movers;
  world.room = 10;
  if (!world.line) world.line = player_create();
  if (!world.line || use_tls(world.line, line) != PLAYER_OK) return PLAYER_USAGE;
  r = player_simulation_order(&world, json_object(line, "order", order, sizeof order) ? order : NULL, json_int(line, "timeout_ms"));
  if (r != PLAYER_OK) {
    snprintf(problem, sizeof problem, "%s", world.error);
    return r;
  }
  printf("\"state\":{\"paused\":%s,\"finished\":%s,\"seed\":%llu", world.paused ? "true" : "false", world.finished ? "true" : "false",
         (unsigned long long)world.seed);
  member("time", world.time);
  member("speed", world.speed);
  printf(",\"movers\":[");
  for (i = 0; i < world.count; i++) {
    const player_mover *m = &movers[i];
    printf("%s{\"name\":", i ? "," : "");
    json_print(m->name);
    printf(",\"robot\":%s", m->robot ? "true" : "false");
    member("x", m->x);
    member("y", m->y);
    member("heading", m->heading);
    printf(",\"sees\":[");
    for (n = 0; n < m->seen; n++) {
      printf("%s{\"name\":", n ? "," : "");
      json_print(m->sees[n].name);
      printf(",\"id\":%d", m->sees[n].id);
      member("range", m->sees[n].range);
      member("bearing", m->sees[n].bearing);
      printf("}");
    }
    printf("]}");
  }
  printf("]},");
  return PLAYER_OK;
}

static player_result geometry(const char *line) {
  player_part parts[64];
  size_t i, count;
  player_result r = player_geometry(robot, parts, 64, &count, json_int(line, "timeout_ms"));
  printf("\"parts\":[");
  for (i = 0; i < count; i++) {
    const player_part *p = &parts[i];
    printf("%s[", i ? "," : "");
    label_of(p->device);
    printf(",%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", p->number, p->x, p->y, p->heading, p->length, p->width,
           p->range, p->view);
  }
  printf("],");
  return r;
}

static player_result devices(const char *line) {
  static player_entry entries[255];
  size_t i, count;
  player_result r = player_devices(robot, entries, 255, &count, json_int(line, "timeout_ms"));
  printf("\"devices\":[");
  for (i = 0; i < count; i++) printf("%s[\"%s\",%u]", i ? "," : "", entries[i].name, (uint8_t)entries[i].device);
  printf("],");
  return r;
}

static player_result rays(const char *line) {
  static player_ray list[64];
  size_t i, count;
  player_result r = player_rays(robot, list, 64, &count, json_int(line, "timeout_ms"));
  printf("\"rays\":[");
  for (i = 0; i < count; i++) {
    const player_ray *ray = &list[i];
    printf("%s[", i ? "," : "");
    label_of(ray->device);
    printf(",%d,%d,%.17g,%.17g,%.17g,", ray->first, ray->count, ray->x, ray->y, ray->heading);
    printf("%.17g,%.17g,%.17g,%.17g]", ray->step, ray->near_mm, ray->far_mm, ray->cone);
  }
  printf("],");
  return r;
}

static player_result channels(const char *line) {
  static player_channel list[64];
  size_t i, count;
  player_result r = player_channels(robot, list, 64, &count, json_int(line, "timeout_ms"));
  printf("\"channels\":[");
  for (i = 0; i < count; i++) {
    const player_channel *ch = &list[i];
    printf("%s[", i ? "," : "");
    label_of(ch->device);
    printf(",%d,\"%s\",", ch->number, ch->role == 'i' ? "input" : ch->role == 'o' ? "output" : "joint");
    printf("\"%s\",%ld,%ld,", ch->unit, (long)ch->min, (long)ch->max);
    json_print(ch->name);
    putchar(']');
  }
  printf("],");
  return r;
}

static player_result colors(const char *line) {
  static player_channel_color list[64];
  size_t i, count;
  player_result r = player_channel_colors(robot, list, 64, &count, json_int(line, "timeout_ms"));
  printf("\"colors\":[");
  for (i = 0; i < count; i++) {
    printf("%s[", i ? "," : "");
    label_of(list[i].device);
    printf(",%d,%lu]", list[i].channel, (unsigned long)list[i].color);
  }
  printf("],");
  return r;
}

static player_result carry_out(const char *line) {
  char op[16], host[256];
  json_string(line, "op", op, sizeof op);
  if (!strcmp(op, "connect")) {
    json_string(line, "host", host, sizeof host);
    if (use_tls(robot, line) != PLAYER_OK) return PLAYER_USAGE;
    open_count = 0;
    return player_connect(robot, host, json_int(line, "port"), json_int(line, "timeout_ms"));
  }
  if (!strcmp(op, "reconnect")) return player_reconnect(robot, json_int(line, "timeout_ms"));
  if (!strcmp(op, "request")) return request(line);
  if (!strcmp(op, "read")) return read_round(line);
  if (!strcmp(op, "get")) return get(line);
  if (!strcmp(op, "command")) return command(line);
  if (!strcmp(op, "config")) return config(line);
  if (!strcmp(op, "geometry")) return geometry(line);
  if (!strcmp(op, "devices")) return devices(line);
  if (!strcmp(op, "open")) return open_device(line);
  if (!strcmp(op, "rays")) return rays(line);
  if (!strcmp(op, "channels")) return channels(line);
  if (!strcmp(op, "colors")) return colors(line);
  if (!strcmp(op, "simulation")) return simulate(line);
  if (!strcmp(op, "close")) return player_close(robot), PLAYER_OK;
  return PLAYER_USAGE;
}

int main(void) {
  static char line[8192];
  robot = player_create();
  if (!robot) return 1;
  while (fgets(line, sizeof line, stdin)) {
    putchar('{');
    *problem = 0;
    finish(carry_out(line));
    fflush(stdout);
  }
  player_destroy(world.line);
  player_destroy(robot);
  return 0;
}
