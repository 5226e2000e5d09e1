"""Starts player_ros.py for a robot, and robot_state_publisher with its body.

    ros2 launch examples/ros/player.launch.py host:=robot.local names:="['ranger', 'imu']"
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parent.parent / "clients" / "python"
"""The folder of the node: it finds the package playerclient next to itself."""


def generate_launch_description() -> LaunchDescription:
    arguments = {"host": "localhost", "port": "6665", "names": "['']"}
    parameters = []
    for name in arguments:
        parameters += ["-p", [f"{name}:=", LaunchConfiguration(name)]]
    return LaunchDescription(
        [
            *(DeclareLaunchArgument(name, default_value=value) for name, value in arguments.items()),
            ExecuteProcess(cmd=["python3", str(CLIENT / "player_ros.py"), "--ros-args", *parameters], output="screen"),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": (HERE / "pioneer.urdf").read_text()}],
            ),
        ]
    )
