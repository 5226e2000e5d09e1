/* Reads and commands an IMU, a GPS receiver, inputs, outputs and joints. */
#include "device.h"

int main(int n, char *arguments[]) {
  playerc_client_t *client = connected(arguments);
  float both[2] = {0.5, 0.5}, none[2] = {0, 0};
  (void)n;
  DEVICE(imu, imu, client, 0);
  DEVICE(gps, gps, client, 0);
  DEVICE(dio, dio, client, 0);
  DEVICE(aio, aio, client, 0);
  DEVICE(actarray, arm, client, 0);
  DEVICE(ranger, scanner, client, 0);
  printf("before %d %d %d %g %u\n", dio->count, aio->voltages_count, gps->quality, imu->acc.pz, scanner->ranges_count);
  rounds(client, 1);
  printf("imu %g %g %g %g %g %g %g %g\n", imu->acc.px, imu->acc.py, imu->acc.pz, imu->vel.proll, imu->vel.ppitch, imu->vel.pyaw, imu->pose.proll, imu->calib_data.accel_z);
  printf("quaternion %g %g %g %g\n", imu->q0, imu->q1, imu->q2, imu->q3);
  printf("gps %.9g %.9g %g %d %d\n", gps->lat, gps->lon, gps->alt, gps->quality, gps->sat_count);
  printf("utm %.10g %.10g\n", gps->utm_e, gps->utm_n);
  printf("scan %u %u %g %g %g %g %g\n", scanner->ranges_count, scanner->element_count, scanner->ranges[0], scanner->ranges[1080], scanner->ranges[1080], scanner->max_range,
         scanner->min_range);
  printf("angles %g %g %g\n", scanner->min_angle, scanner->max_angle, scanner->angular_res);
  printf("inputs %d %u %d %d 0\n", dio->count, dio->digin, dio->digin & 1, dio->digin & 1);
  printf("volts %d %g %g\n", aio->voltages_count, playerc_aio_get_data(aio, 0), playerc_aio_get_data(aio, 9));
  printf("set %d %d %d %d\n", playerc_dio_set_output(dio, 1, 1), playerc_aio_set_output(aio, 0, 30), playerc_dio_set_output(dio, 2, 3),
         playerc_imu_datatype(imu, 1));
  printf("reset %d %d\n", playerc_imu_reset_orientation(imu, 0), playerc_imu_reset_euler(imu, 0, 0, 0));
  playerc_actarray_get_geom(arm);
  printf("joints %u %g %g %g %d 0 0\n", arm->actuators_geom_count, arm->actuators_geom[0].min, arm->actuators_geom[0].max, playerc_actarray_get_actuator_geom(arm, 1).centre,
         arm->actuators_geom[0].type == PLAYERC_ACTARRAY_TYPE_ROTARY);
  printf("power %d %d\n", playerc_actarray_power(arm, 1), playerc_actarray_brakes(arm, 0));
  printf("motors %d\n", arm->motor_state);
  playerc_actarray_speed_config(arm, 0, 0.5);
  playerc_actarray_position_cmd(arm, 0, DTOR(30));
  playerc_actarray_position_cmd(arm, 1, DTOR(999));
  rounds(client, 5);
  printf("moved %g %g %d %g\n", arm->actuators_data[0].position, playerc_actarray_get_actuator_data(arm, 1).position, arm->actuators_data[0].state,
         playerc_actarray_get_actuator_data(arm, 9).position);
  playerc_actarray_multi_position_cmd(arm, both, 2);
  rounds(client, 5);
  printf("multi %g %g\n", arm->actuators_data[0].position, arm->actuators_data[1].position);
  playerc_actarray_speed_cmd(arm, 0, -0.2);
  rounds(client, 5);
  printf("limit %g %g\n", arm->actuators_data[0].position, arm->actuators_data[1].position);
  playerc_actarray_multi_speed_cmd(arm, none, 2);
  printf("all %d %d %d\n", playerc_actarray_home_cmd(arm, -1), playerc_actarray_home_cmd(arm, 0), playerc_actarray_position_cmd(arm, -1, 0.25));
  rounds(client, 5);
  printf("both %g %g\n", arm->actuators_data[0].position, arm->actuators_data[1].position);
  printf("intensities %d %d\n", playerc_ranger_intns_config(scanner, 1), playerc_ranger_set_config(scanner, -1, 1, 0.1, 0, 8, 0.001, 10));
  return 0;
}
